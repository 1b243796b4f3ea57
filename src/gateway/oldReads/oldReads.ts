import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import { judgedStatus, pathOf } from "../../catalogue/index.ts";
import { exchangeOf, idOfKey, monotonic, type ReadCounts, withTimeout } from "../../operation/index.ts";
import type { Additions } from "../answer/additions.ts";
import type { Dialect, HitPath } from "../answer/dialect.ts";
import type { WholeCore } from "../answer/core.ts";
import { type CacheKey, type NotForCache, readDirectives } from "../cache/cacheRequest.ts";
import { isFailure } from "../cache/policy.ts";
import { type Served, uncached } from "../cache/served.ts";
import type { Pass, Substitute } from "../proxy/passThrough.ts";
import { ownCaller } from "../upstream/legacyClient.ts";
import { CachedReads } from "./cachedReads.ts";
import { legacyDialect } from "./dialect.ts";
import type { OldRead } from "./oldRead.ts";
import { mayMove } from "./movedRead.ts";
import { MovedReads } from "./movedReads.ts";
import { type Known, nextStep } from "./nextStep.ts";
import { openFormReads, type ReadForm } from "./formRead.ts";
import { openPathReads, type PathRead, type ReadPath } from "./pathRead.ts";
import { openReplies, type Replies } from "./replies.ts";
import { openSubstitutes } from "./substitutes.ts";
import { type ReadSender, whoAsks } from "./whoAsks.ts";

/**
 * The bounds of remembered paths whose public answer was not a 200. Requests of callers who may see more are then
 * proxied at once: otherwise each would cost two requests to legacy.
 */
const SHOWS_MORE = { max: 1000, ttl: 60_000, perf: monotonic };

/**
 * Milliseconds that a request waits until legacy has verified its key. While legacy fails, a request with any key gets
 * the public answer.
 */
const VERIFY_MS = 2000;

type ReadingForm = NonNullable<ReturnType<ReadForm>>;

/** The parts of reads of old clients. `legacy` identifies the legacy server. */
type OldReadParts = {
  counts: ReadCounts;
  hitPath: HitPath;
  legacy: string;
  headers: Additions["legacyHeaders"];
  onLegacyBody: Additions["onLegacyBody"];
  decide: Additions["decide"];
  backend: Additions["oldReadBackend"];
};

/**
 * Answers reads of legacy's interface from the cache, with legacy's status, type and bytes. An answer is judged like an
 * answer of the new interface, and stored for the same time, in the same groups. All other requests are proxied to
 * legacy.
 */
export class OldReads {
  readonly #readPath: ReadPath;
  readonly #core: WholeCore;
  readonly #parts: OldReadParts;
  readonly #readForm: ReadForm;
  readonly #dialect: Dialect<PathRead>;
  readonly #cached: CachedReads;
  readonly #replies: Replies;
  readonly #moved: MovedReads | undefined;
  readonly #substituteFor;
  readonly #showsMoreToKeys = new LRUCache<string, true>(SHOWS_MORE);

  constructor(core: WholeCore, parts: OldReadParts) {
    const { counts, headers, legacy, backend } = parts;
    this.#core = core;
    this.#parts = parts;
    this.#readPath = openPathReads(core, legacy);
    this.#readForm = openFormReads(core, this.#readPath);
    const moved = (this.#moved = backend && new MovedReads(core, { ...parts, backend }));
    this.#dialect = legacyDialect(core, headers, counts, moved);
    this.#cached = new CachedReads(core);
    this.#replies = openReplies(core, { cached: this.#cached, counts, dialect: this.#dialect, moved });
    this.#substituteFor = openSubstitutes(core, { cached: this.#cached, replies: this.#replies });
  }

  /** Answers the request, or calls `pass` later. False: it has to be proxied at once. */
  answer(req: IncomingMessage, res: ServerResponse, pass: Pass): boolean {
    const reading = this.#readForm(req);
    if (reading !== undefined) {
      this.#answerForm(req, res, reading, pass).catch((error: unknown) => this.#core.guard.fail(res, error));
      return true;
    }
    const sender = whoAsks(req, this.#core.trusted);
    if (sender === undefined) return false;
    const path = this.#readGet(pathOf(req.url ?? "/"));
    if (path === undefined) return false;
    const side = this.#moved?.sideOf(path, req, exchangeOf(res));
    this.#begin(req, res, { ...this.#oldRead(req, res, path, sender), side }, pass);
    return true;
  }

  /** The keys of the public entries that may answer a GET of this path. */
  keysOf(path: string): CacheKey[] {
    const read = this.#readPath(path);
    return read === undefined ? [] : [...Object.values(read.cacheKeys), ...(this.#moved?.keysOf(read) ?? [])];
  }

  async #answerForm(req: IncomingMessage, res: ServerResponse, reading: ReadingForm, pass: Pass): Promise<void> {
    const form = await reading;
    if (form === undefined) return pass();
    for (const onBody of this.#parts.onLegacyBody) onBody(req, form.posted);
    // Node does not discard a body that was read, even if the request is not proxied.
    res.once("close", () => req.resume());
    this.#begin(req, res, { ...this.#oldRead(req, res, form.path, form.sender), posted: form.posted }, pass);
  }

  /** Reads the path of a GET; `undefined`: the request has to be proxied. */
  #readGet(path: string): PathRead | undefined {
    const { hitPath } = this.#parts;
    const known = hitPath.recall(path, this.#dialect);
    const read = known ?? this.#readPath(path);
    if (known === undefined && read !== undefined) hitPath.learn(path, this.#dialect, read);
    return read;
  }

  #oldRead(req: IncomingMessage, res: ServerResponse, path: PathRead, sender: ReadSender): OldRead {
    return {
      ...path,
      ...sender,
      cacheKey: path.cacheKeys[sender.scheme],
      owner: sender.key === undefined ? undefined : idOfKey(sender.key),
      client: exchangeOf(res).caller?.address ?? "",
      wanted: readDirectives(req.headers["cache-control"], req.headers.pragma),
    };
  }

  #begin(req: IncomingMessage, res: ServerResponse, read: OldRead, pass: Pass): void {
    exchangeOf(res).oldRead = read.cacheKey.endpoint;
    this.#parts.counts.begin(read.cacheKey.endpoint);
    this.#answerOrPass(req, res, read, pass).catch((error: unknown) => this.#core.guard.fail(res, error));
  }

  async #answerOrPass(req: IncomingMessage, res: ServerResponse, read: OldRead, pass: Pass): Promise<void> {
    const answered = await this.#answerFor(req, res, read).catch((error: unknown) => {
      this.#core.observer.fault(error);
      return res.headersSent;
    });
    if (answered === true) return;
    if (answered !== false) return pass(answered);
    pass(() => {
      this.#replies.countPassed(read);
      return undefined;
    });
  }

  /** True: the request is answered. False, or a substitute for legacy's answer: it has to be proxied. */
  async #answerFor(req: IncomingMessage, res: ServerResponse, read: OldRead): Promise<boolean | Substitute> {
    const { outage } = this.#core;
    const { cacheKey, isList, posted, who } = read;
    const mayShowMore = cacheKey.personal || this.#showsMoreToKeys.has(cacheKey.key);
    const asked = { isList, mayShowMore, isPassing: this.#cached.isPassing(read), isAlike: posted !== undefined };
    let served: Served | NotForCache = "notForCache";
    const known: Known = { who, legacy: this.#legacyNow(), asked };
    const checkKey = this.#keyCheck(read);
    const moved = mayMove(read) && (await this.#moved?.answer(req, res, read, await checkKey()));
    if (moved) {
      if (!res.destroyed) this.#replies.send(req, res, read, moved);
      return true;
    }
    for (;;) {
      const step = nextStep(known);
      switch (step) {
        case "awaitProbe":
          await outage.settled();
          known.legacy = outage.isOn() ? "fails" : "answers";
          break;
        case "checkKey":
          known.key = await checkKey();
          break;
        case "lookUp": {
          // `only-if-cached` does not count: without an entry the request goes to legacy.
          const { onlyIfCached: _, ...wanted } = read.wanted;
          served = await this.#cached.answer({ ...read, wanted });
          known.found = this.#foundIn(served);
          known.legacy = this.#legacyNow();
          break;
        }
        case "pass":
          // The other backend may have an earlier answer.
          return read.side?.moved !== undefined && this.#substituteFor(req, res, read);
        case "passOrStored":
          if (known.found !== undefined) this.#showsMoreToKeys.set(cacheKey.key, true);
          return this.#substituteFor(req, res, read);
        case "say103":
          return this.#replies.sendRefusal(res, read);
        default: {
          if (known.found === "other") await this.#moved?.forget(read);
          const isNone = known.found === "failure" || known.found === "doubted";
          if (isNone && read.side && (await this.#replies.sendStored(req, res, read))) return true;
          const reply = step === "say107" ? uncached(this.#cached.unasked(read).answer) : served;
          if (!res.destroyed) this.#replies.send(req, res, read, reply as Served);
          return true;
        }
      }
    }
  }

  #legacyNow(): Known["legacy"] {
    const { outage } = this.#core;
    return outage.isOn() ? "fails" : outage.isInDoubt() ? "inDoubt" : "answers";
  }

  /** Checks the key of a read once; again only where legacy gave no verdict in time, and fails since. */
  #keyCheck(read: OldRead): () => Promise<NonNullable<Known["key"]>> {
    let verdict: Known["key"];
    return async () => {
      if (verdict === "late" && this.#core.outage.isOn()) verdict = undefined;
      return (verdict ??= await this.#checkKey(read));
    };
  }

  /** The verdict of legacy on the key of a read; while it fails, it gives none. */
  async #checkKey(read: OldRead): Promise<NonNullable<Known["key"]>> {
    const { keys, outage, totalTimeout } = this.#core;
    const { key, owner, client, posted } = read;
    if (key === undefined || owner === undefined) return "accepted";
    // Legacy takes a POST only with a key that may write.
    const verifying = keys.verify({ ...ownCaller(totalTimeout), client, key }, posted !== undefined);
    const refusal = await withTimeout(verifying, VERIFY_MS);
    const unknown = keys.wasRefused(owner) ? "wasRefused" : "unknown";
    if (refusal === "late") return outage.isOn() ? unknown : keys.wasAccepted(owner) ? "accepted" : "late";
    if (refusal === undefined) return "accepted";
    return refusal.kind === "unauthenticated" || refusal.kind === "forbidden" ? "refused" : unknown;
  }

  #foundIn(served: Served | NotForCache): NonNullable<Known["found"]> {
    if (served === "notForCache") return "none";
    const { answer, forOne } = served;
    if (forOne === "unasked" || !this.#cached.isOfLegacy(answer)) return "failure";
    if (answer.status === 200) return "ok";
    return isFailure(judgedStatus(answer)) ? "doubted" : "other";
  }
}
