import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Answer, type Jobs, judgedStatus } from "../../catalogue/index.ts";
import { headerOf, type HttpExchange, openHolding } from "../../operation/index.ts";
import type { Additions, OldReadBackend } from "../answer/additions.ts";
import { type Context, fromNode } from "../answer/context.ts";
import type { WholeCore } from "../answer/core.ts";
import { callerOf } from "../answer/requestInput.ts";
import type { CacheKey } from "../cache/cacheRequest.ts";
import { bytesOf, entryOf } from "../cache/entry.ts";
import { type Decision, type Served, uncached } from "../cache/served.ts";
import { openSingleFlight } from "../cache/singleFlight.ts";
import type { Known } from "./nextStep.ts";
import type { OldRead } from "./oldRead.ts";
import { type MovedRead, movedRead, oldError, type Side } from "./movedRead.ts";
import type { PathRead } from "./pathRead.ts";

/** The most pages that are joined to a list without a limit, and the most lists that are joined at a time. */
const MAX_PAGES = 50;
const MAX_JOINING = 3;

type Input = Record<string, unknown>;

/**
 * Answers reads of old clients by a backend of the new interface: its documents are written in legacy's form. The forms
 * stay with the backend's entries, which both interfaces share. Where there is no answer, legacy answers as ever.
 */
export class MovedReads {
  readonly #core: WholeCore;
  readonly #backend: OldReadBackend;
  readonly #decide: Additions["decide"];
  /** By the knowledge of a path; `null`: legacy alone can answer it. */
  readonly #moved = new WeakMap<PathRead, MovedRead | null>();
  readonly #joining;
  readonly #joiningClients = new Set<string>();
  /** The connections that wait for a list which is being joined. */
  readonly #waiting = new Map<string, Socket[]>();

  constructor(core: WholeCore, { backend, decide }: { backend: OldReadBackend; decide: Additions["decide"] }) {
    this.#core = core;
    this.#backend = backend;
    this.#decide = decide;
    this.#joining = openSingleFlight<Answer | undefined>(2 * core.totalTimeout);
  }

  /** The side that answers this caller; `undefined`: legacy answers every caller. */
  sideOf(read: PathRead, request: IncomingMessage, { caller }: HttpExchange): Side | undefined {
    if (caller === undefined || !this.#backend.mayAnswer(read.name)) return undefined;
    const moved = this.#movedRead(read);
    if (moved === undefined) return undefined;
    const decision = this.#decide(read.name, { caller, header: (name) => headerOf(request, name) });
    const isDivided = decision.stage === "canary" || decision.reason === "forced";
    return decision.backend === "legacy" ? { decision, isDivided } : { decision, isDivided, moved };
  }

  /** The keys of the backend's public entries that may answer the read. */
  keysOf(read: PathRead): CacheKey[] {
    const moved = this.#movedRead(read);
    return moved === undefined ? [] : [moved.cacheKey];
  }

  /** Counts an answer by the side that made it. */
  count(decision: Decision): void {
    this.#backend.count(decision);
  }

  /**
   * The backend's answer in legacy's form; `undefined`: legacy answers. `verdict`: legacy's verdict on the key.
   */
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
        for (const legacys of Object.values(read.cacheKeys)) await cache.forget(legacys);
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
      const stored = await this.#backend.readStored(context);
      return stored && this.#inOldForm(stored, context, read, moved);
    });
    return served && { ...served, decision: { ...decision, reason: "stale" } };
  }

  /** Legacy refuses what the backend answered before: that answer is not shown any more. */
  async forget({ side }: OldRead): Promise<void> {
    if (side?.moved) await this.#core.cache.forget(side.moved.cacheKey);
  }

  #movedRead(read: PathRead): MovedRead | undefined {
    let moved = this.#moved.get(read);
    if (moved === undefined) {
      moved = movedRead(read, this.#backend.backend) ?? null;
      this.#moved.set(read, moved);
    }
    return moved ?? undefined;
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
    const served = await this.#backend.read(context);
    return served && this.#inOldForm(served, context, read, moved);
  }

  /** The same answer in legacy's form. The form stays with the entry, unless it is made of several. */
  async #inOldForm(served: Served, context: Context, read: OldRead, moved: MovedRead): Promise<Served | undefined> {
    const { entry, answer } = served;
    const kept = entry?.forms?.[moved.formName];
    if (entry && kept) {
      kept.freshUntil = entry.freshUntil;
      return { ...served, answer: kept, entry: kept };
    }
    const { none } = moved.form;
    const isNone = answer.status === 404 && none !== undefined;
    const written =
      answer.status === 200 || isNone
        ? await this.#write(isNone ? { ...answer, body: JSON.stringify(none) } : answer, context, read, moved)
        : oldError(this.#core.errors, answer, moved.form, read.form);
    if (written === "long") {
      const joined = await this.#join(answer, context, read, moved);
      return joined && uncached(joined, "bypass");
    }
    if (written === undefined) return undefined;
    if (entry === undefined) return { ...served, answer: written };
    const form = { ...entryOf(written, entry), freshUntil: entry.freshUntil };
    this.#core.cache.keepForm(moved.cacheKey.key, entry, moved.formName, form);
    return { ...served, answer: form, entry: form };
  }

  /** Writes a 200 in legacy's form. `long`: it is the first page of several. */
  async #write(
    answer: Answer,
    context: Context,
    read: OldRead,
    moved: MovedRead,
  ): Promise<Answer | "long" | undefined> {
    const body = () => Buffer.from(bytesOf(answer.body));
    const task = { endpoint: moved.endpoint.name, format: read.form };
    let form = await this.#writeForm({ ...task, page: moved.page }, body(), context);
    if (form !== undefined && moved.page !== undefined && form.rows >= moved.page) return "long";
    // Legacy has no list without rows: it says that nothing was found.
    if (form?.rows === 0 && moved.form.page !== undefined) return undefined;
    if (form && "needs" in form) {
      const others = await this.#askOthers(form.needs, context, moved);
      form = others && (await this.#writeForm({ ...task, others: listOf(others).toString() }, body(), context));
    }
    return form && "written" in form ? { ...form.written.answer, judged: answer.status } : undefined;
  }

  /** The bytes of a large body go to a thread: it has to be a copy. */
  async #writeForm(task: Jobs["oldForm"]["task"], body: Buffer, { deadline, holding }: Context) {
    const form = await this.#core.reader.writeOldForm(task, body, deadline, holding);
    return "failure" in form || "failed" in form ? undefined : form;
  }

  /** The backend's documents with the values that these rows lack. */
  async #askOthers(inputs: readonly Input[], context: Context, { form }: MovedRead): Promise<Buffer[] | undefined> {
    const endpoint = this.#core.endpoints.find(({ name }) => name === form.complete?.endpoint);
    if (endpoint === undefined || this.#decide(endpoint.name, context).backend === "legacy") return undefined;
    const found: Buffer[] = [];
    for (const input of inputs) {
      const served = await this.#backend.read({ ...context, endpoint, input, legacy: endpoint.legacy(input) });
      if (served?.answer.status !== 200 && served?.answer.status !== 404) return undefined;
      if (served.answer.status === 200) found.push(bytesOf(served.answer.body));
    }
    return found;
  }

  /**
   * Joins the pages of a list, once for all who ask for it at the same time. `undefined`: too many are joined now.
   */
  async #join(first: Answer, context: Context, read: OldRead, moved: MovedRead): Promise<Answer | undefined> {
    const { client, form, owner = "" } = read;
    const id = `${moved.cacheKey.key} ${form} ${context.key === undefined ? "" : owner}`;
    const waiting = this.#waiting.get(id) ?? [];
    if (context.incoming) waiting.push(context.incoming.socket);
    const running = this.#joining.get(id);
    if (running !== undefined) return running;
    if (this.#joiningClients.size >= MAX_JOINING || this.#joiningClients.has(client)) return undefined;
    this.#joiningClients.add(client);
    this.#waiting.set(id, waiting);
    // Legacy needs time, too, if a page fails.
    const deadline = performance.now() + this.#core.totalTimeout / 2;
    const isAwaited = () => performance.now() < deadline && waiting.some(({ destroyed }) => !destroyed);
    try {
      return await this.#joining.launch(id, this.#joinPages(bytesOf(first.body), context, read, moved, isAwaited));
    } finally {
      this.#joiningClients.delete(client);
      this.#waiting.delete(id);
    }
  }

  async #joinPages(
    first: Buffer,
    context: Context,
    { form: format }: OldRead,
    moved: MovedRead,
    isAwaited: () => boolean,
  ): Promise<Answer | undefined> {
    const { page = 0, form, input } = moved;
    const { name: endpoint } = moved.endpoint;
    const pages = [first];
    const others: Buffer[] = [];
    let bytes = first.length;
    for (let last = first; ; pages.push(last)) {
      const counted = await this.#writeForm({ endpoint }, Buffer.from(last), context);
      if (counted === undefined || !isAwaited()) return undefined;
      if (form.complete && format === "xml" && "needs" in counted) {
        const found = await this.#askOthers(counted.needs, context, moved);
        if (found === undefined) return undefined;
        others.push(...found);
      }
      if (counted.rows < page) break;
      if (pages.length === MAX_PAGES) return undefined;
      const next = await this.#backend.read({ ...context, input: { ...input, offset: pages.length * page } });
      if (next?.answer.status === 404) break;
      if (next?.answer.status !== 200) return undefined;
      last = bytesOf(next.answer.body);
      bytes += last.length;
      if (bytes > this.#core.settings.MAX_REPLY_BYTES || context.holding?.take(last.length) === false) return undefined;
    }
    const task = { endpoint, format, others: listOf(others).toString() };
    const whole = await this.#writeForm(task, listOf(pages), context);
    return whole && "written" in whole ? whole.written.answer : undefined;
  }
}

/** Joins JSON lists to one. Large lists are not made texts: that would take the event loop's time. */
const listOf = (lists: readonly Buffer[]): Buffer => {
  const rows = lists.filter(({ length }) => length > 2).map((list) => list.subarray(1, -1));
  const [open, comma, close] = ["[", ",", "]"].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];
  return Buffer.concat([open, ...rows.flatMap((list, i) => (i === 0 ? [list] : [comma, list])), close]);
};
