import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import { pathOf } from "../../catalogue/index.ts";
import { exchangeOf, idOfKey, monotonic, type ReadCounts, withTimeout } from "../../operation/index.ts";
import type { Additions } from "../answer/additions.ts";
import type { HitPath } from "../answer/dialect.ts";
import type { WholeCore } from "../answer/core.ts";
import { type NotForCache, readDirectives } from "../cache/cacheRequest.ts";
import { isFailure } from "../cache/policy.ts";
import { type Served, uncached } from "../cache/served.ts";
import type { Pass, Substitute } from "../proxy/passThrough.ts";
import { ownCaller } from "../upstream/legacyClient.ts";
import { openCachedReads } from "./cachedReads.ts";
import { legacyDialect } from "./dialect.ts";
import type { OldRead } from "./oldRead.ts";
import { type Known, nextStep } from "./nextStep.ts";
import { openFormReads, type ReadForm } from "./formRead.ts";
import { openPathReads, type PathRead, type ReadPath } from "./pathRead.ts";
import { openReplies } from "./replies.ts";
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
};

/**
 * Answers reads of legacy's interface from the cache, with legacy's status, type and bytes. An answer is judged like an
 * answer of the new interface, and stored for the same time, in the same groups. All other requests are proxied to
 * legacy: `answer` returns false, or calls `pass` later.
 */
export const openOldReads = (
  core: WholeCore,
  { counts, hitPath, legacy, headers, onLegacyBody }: OldReadParts,
): { answer: (req: IncomingMessage, res: ServerResponse, pass: Pass) => boolean; readPath: ReadPath } => {
  const { keys, outage, observer } = core;
  const readPath = openPathReads(core, legacy);
  const dialect = legacyDialect(core, headers, counts);
  const cached = openCachedReads(core);
  const replies = openReplies(core, { cached, counts, dialect });
  const substituteFor = openSubstitutes(core, { cached, replies });
  const showsMoreToKeys = new LRUCache<string, true>(SHOWS_MORE);

  /** Reads the path of a GET; `undefined`: the request has to be proxied. */
  const readGet = (path: string): PathRead | undefined => {
    const known = hitPath.recall(path, dialect);
    const read = known ?? readPath(path);
    if (known === undefined && read !== undefined) hitPath.learn(path, dialect, read);
    return read;
  };

  const oldRead = (req: IncomingMessage, res: ServerResponse, path: PathRead, sender: ReadSender): OldRead => ({
    ...path,
    ...sender,
    cacheKey: path.cacheKeys[sender.scheme],
    owner: sender.key === undefined ? undefined : idOfKey(sender.key),
    client: exchangeOf(res).caller?.address ?? "",
    wanted: readDirectives(req.headers["cache-control"], req.headers.pragma),
  });

  /** The verdict of legacy on the key of a read; while it fails, it gives none. */
  const checkKey = async (read: OldRead): Promise<NonNullable<Known["key"]>> => {
    const { key, owner, client, posted } = read;
    if (key === undefined || owner === undefined) return "accepted";
    // Legacy takes a POST only with a key that may write.
    const verifying = keys.verify({ ...ownCaller(core.totalTimeout), client, key }, posted !== undefined);
    const refusal = await withTimeout(verifying, VERIFY_MS);
    const unknown = keys.wasRefused(owner) ? "wasRefused" : "unknown";
    if (refusal === "late") return outage.isOn() ? unknown : keys.wasAccepted(owner) ? "accepted" : "late";
    if (refusal === undefined) return "accepted";
    return refusal.kind === "unauthenticated" || refusal.kind === "forbidden" ? "refused" : unknown;
  };

  const legacyNow = (): Known["legacy"] => (outage.isOn() ? "fails" : outage.isInDoubt() ? "inDoubt" : "answers");

  const foundIn = (served: Served | NotForCache): NonNullable<Known["found"]> => {
    if (served === "notForCache") return "none";
    const { answer, isUnasked, judged = answer.status } = served;
    if (answer.status === 200) return "ok";
    if (isUnasked === true || !cached.isOfLegacy(answer)) return "failure";
    return isFailure(judged) ? "doubted" : "other";
  };

  /** True: the request is answered. False, or a substitute for legacy's answer: it has to be proxied. */
  const answerFor = async (req: IncomingMessage, res: ServerResponse, read: OldRead): Promise<boolean | Substitute> => {
    const { cacheKey, isList, posted, who } = read;
    const mayShowMore = cacheKey.personal || showsMoreToKeys.has(cacheKey.key);
    const asked = { isList, mayShowMore, isPassing: cached.isPassing(read), isAlike: posted !== undefined };
    let served: Served | NotForCache = "notForCache";
    const known: Known = { who, legacy: legacyNow(), asked };
    for (;;) {
      const step = nextStep(known);
      switch (step) {
        case "awaitProbe":
          await outage.settled();
          known.legacy = outage.isOn() ? "fails" : "answers";
          break;
        case "checkKey":
          known.key = await checkKey(read);
          break;
        case "lookUp": {
          // `only-if-cached` does not count: without an entry the request goes to legacy.
          const { onlyIfCached: _, ...wanted } = read.wanted;
          served = await cached.answer({ ...read, wanted });
          known.found = foundIn(served);
          known.legacy = legacyNow();
          break;
        }
        case "pass":
          return false;
        case "passOrStored":
          if (known.found !== undefined) showsMoreToKeys.set(cacheKey.key, true);
          return substituteFor(req, res, read);
        case "say103":
          return replies.sendRefusal(res, read);
        default: {
          const reply = step === "say107" ? uncached(cached.unasked(read).answer) : served;
          if (!res.destroyed) replies.send(req, res, read, reply as Served);
          return true;
        }
      }
    }
  };

  const answerOrPass = async (req: IncomingMessage, res: ServerResponse, read: OldRead, pass: Pass): Promise<void> => {
    const answered = await answerFor(req, res, read).catch((error: unknown) => {
      observer.fault(error);
      return res.headersSent;
    });
    if (answered === true) return;
    if (answered !== false) return pass(answered);
    pass(() => {
      replies.countPassed(read);
      return undefined;
    });
  };

  const begin = (req: IncomingMessage, res: ServerResponse, read: OldRead, pass: Pass): void => {
    exchangeOf(res).oldRead = read.cacheKey.endpoint;
    counts.begin(read.cacheKey.endpoint);
    answerOrPass(req, res, read, pass).catch((error: unknown) => core.guard.fail(res, error));
  };

  const readForm = openFormReads(core, readPath);
  const answerForm = async (req: IncomingMessage, res: ServerResponse, reading: ReadingForm, pass: Pass) => {
    const form = await reading;
    if (form === undefined) return pass();
    for (const onBody of onLegacyBody) onBody(req, form.posted);
    // Node does not discard a body that was read, even if the request is not proxied.
    res.once("close", () => req.resume());
    begin(req, res, { ...oldRead(req, res, form.path, form.sender), posted: form.posted }, pass);
  };

  return {
    readPath,
    answer(req, res, pass) {
      const reading = readForm(req);
      if (reading !== undefined) {
        answerForm(req, res, reading, pass).catch((error: unknown) => core.guard.fail(res, error));
        return true;
      }
      const sender = whoAsks(req, core.trusted);
      if (sender === undefined) return false;
      const path = readGet(pathOf(req.url ?? "/"));
      if (path === undefined) return false;
      begin(req, res, oldRead(req, res, path, sender), pass);
      return true;
    },
  };
};
