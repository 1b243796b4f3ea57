import type { IncomingMessage, ServerResponse } from "node:http";
import { judgedStatus } from "../../catalogue/index.ts";
import { headerOf, type HttpExchange, openHolding } from "../../operation/index.ts";
import type { Additions, OldReadBackend } from "../answer/additions.ts";
import { type Context, fromNode } from "../answer/context.ts";
import type { WholeCore } from "../answer/core.ts";
import { callerOf } from "../answer/requestInput.ts";
import type { CacheKey } from "../cache/cacheRequest.ts";
import type { Served } from "../cache/served.ts";
import type { Known } from "./nextStep.ts";
import { type MovedParts, OldForms } from "./oldForms.ts";
import type { OldRead } from "./oldRead.ts";
import { type MovedRead, movedRead, type Side } from "./movedRead.ts";
import type { PathRead } from "./pathRead.ts";

/**
 * Answers reads of old clients by a backend of the new interface: its documents are written in legacy's form. The forms
 * stay with the backend's entries, which both interfaces share. Where there is no answer, legacy answers as ever.
 */
export class MovedReads {
  /** Counts an answer by the side that made it. */
  readonly count: OldReadBackend["count"];
  readonly #core: WholeCore;
  readonly #backend: OldReadBackend;
  readonly #decide: Additions["decide"];
  /** By the knowledge of a path; `undefined`: legacy alone can answer it. */
  readonly #moved = new WeakMap<PathRead, MovedRead | undefined>();
  readonly #forms: OldForms;

  constructor(core: WholeCore, parts: MovedParts) {
    this.#core = core;
    this.#backend = parts.backend;
    this.count = parts.backend.count;
    this.#decide = parts.decide;
    this.#forms = new OldForms(core, parts);
  }

  /** The side that answers this caller; `undefined`: legacy answers every caller. */
  sideOf(read: PathRead, request: IncomingMessage, { caller }: HttpExchange): Side | undefined {
    if (caller === undefined || !this.#backend.mayAnswer(read.name)) return undefined;
    const moved = this.#movedRead(read);
    if (moved === undefined) return undefined;
    const decision = this.#decide(read.name, { caller, header: (name) => headerOf(request, name) });
    return decision.backend === "legacy" ? { decision } : { decision, moved };
  }

  /** The keys of the backend's public entries that may answer the read. */
  keysOf(read: PathRead): CacheKey[] {
    const moved = this.#movedRead(read);
    return moved === undefined ? [] : [moved.cacheKey];
  }

  /** The backend's answer in legacy's form; `undefined`: legacy answers. `verdict`: legacy's verdict on the key. */
  async answer(
    req: IncomingMessage,
    res: ServerResponse,
    read: OldRead,
    verdict: Known["key"],
  ): Promise<Served | undefined> {
    const { side: { moved, decision } = {}, who, owner, cacheKey } = read;
    const { cache, keys } = this.#core;
    const isRefused = verdict === "refused" || (verdict !== "accepted" && keys.wasRefused(owner));
    if (moved === undefined || isRefused) return undefined;
    const isKnown = owner !== undefined && (verdict === "accepted" || keys.wasAccepted(owner));
    const served = await this.#withContext(req, res, read, moved, async (context) => {
      const isForAll = !(isKnown && cacheKey.personal);
      const first = await this.#ask(isForAll ? { ...context, key: undefined } : context, read, moved);
      // What legacy said before is no longer right, either.
      if (first && isForAll && judgedStatus(first.answer) !== 200 && !first.how.hit)
        await Promise.all(Object.values(read.cacheKeys).map((legacys) => cache.forget(legacys)));
      if (first === undefined || judgedStatus(first.answer) === 200 || who === "nobody" || !isForAll) return first;
      // A resource that the public does not find may be a private one of the caller.
      return isKnown ? this.#ask(context, read, moved) : undefined;
    });
    return served && { ...served, decision };
  }

  /** The backend's stored answer to the public, for when neither side answers. */
  async findStored(req: IncomingMessage, res: ServerResponse, read: OldRead): Promise<Served | undefined> {
    const { moved, decision } = read.side ?? {};
    if (moved === undefined || decision === undefined) return undefined;
    const served = await this.#withContext(req, res, { ...read, key: undefined }, moved, async (context) => {
      const { readStored: ask } = this.#backend;
      const stored = await ask(context);
      return stored && this.#forms.of(stored, { read, moved, context, ask });
    });
    return served && { ...served, decision: { ...decision, reason: "stale" } };
  }

  /** Legacy refuses what the backend answered before: that answer is not shown any more. */
  async forget({ side }: OldRead): Promise<void> {
    if (side?.moved) await this.#core.cache.forget(side.moved.cacheKey);
  }

  #movedRead(read: PathRead): MovedRead | undefined {
    if (!this.#moved.has(read)) this.#moved.set(read, movedRead(read, this.#backend.backend));
    return this.#moved.get(read);
  }

  async #withContext<T>(
    req: IncomingMessage,
    res: ServerResponse,
    read: OldRead,
    { endpoint, input }: MovedRead,
    use: (context: Context) => Promise<T>,
  ): Promise<T> {
    const { onlyIfCached: _, ...wanted } = read.wanted;
    const holding = openHolding(this.#core.memory, true);
    try {
      const received = fromNode(req, res, holding, this.#core.trusted);
      const caller = { ...callerOf(this.#core, received), key: read.key };
      return await use({ ...received, ...caller, endpoint, input, legacy: endpoint.legacy(input), wanted });
    } finally {
      holding.close();
    }
  }

  async #ask(context: Context, read: OldRead, moved: MovedRead): Promise<Served | undefined> {
    const { read: ask } = this.#backend;
    const served = await ask(context);
    return served && this.#forms.of(served, { read, moved, context, ask });
  }
}
