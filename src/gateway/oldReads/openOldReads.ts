import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import { pathOf } from "../../catalogue/index.ts";
import { exchangeOf, monotonic, type ReadCounts, withTimeout } from "../../operation/index.ts";
import type { Additions } from "../answer/additions.ts";
import type { HitPath } from "../answer/dialect.ts";
import type { WholeCore } from "../answer/core.ts";
import { readDirectives } from "../cache/cacheRequest.ts";
import { isFailure } from "../cache/policy.ts";
import { uncached } from "../cache/served.ts";
import type { Pass, Substitute } from "../proxy/passThrough.ts";
import { ownCaller } from "../upstream/legacyClient.ts";
import { openCachedReads } from "./cachedReads.ts";
import { legacyDialect } from "./dialect.ts";
import type { OldRead } from "./oldRead.ts";
import { openFormReads, type ReadForm } from "./formRead.ts";
import { openPathReads, type PathRead, type ReadPath } from "./pathRead.ts";
import { openReplies } from "./replies.ts";
import { openSubstitutes } from "./substitutes.ts";
import { type ReadSender, whoAsks } from "./whoAsks.ts";

/**
 * Paths whose answer for everybody was no 200: where more may be shown they pass at once, else legacy
 * is asked twice each time.
 */
const MORE_SHOWN = { max: 1000, ttl: 60_000, perf: monotonic };

/**
 * Milliseconds that a request waits until legacy has verified its key: as long as legacy fails, any key
 * gets what everybody gets.
 */
const VERIFY_MS = 2000;

type ReadingForm = NonNullable<ReturnType<ReadForm>>;

/** What reads of old clients are opened with. `legacy` identifies the legacy server. */
type OldReadParts = {
  counts: ReadCounts;
  hitPath: HitPath;
  legacy: string;
  headers: Additions["legacyHeaders"];
  onLegacyBody: Additions["onLegacyBody"];
};

/**
 * Answers reads of legacy's own interface from the cache: its status, type and bytes as they are. An answer is
 * judged as one of the new interface is, and stored for the same time, in the same groups. What cannot be
 * answered so passes to legacy: `answer` returns false, or `pass` is called later.
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
  const moreShown = new LRUCache<string, true>(MORE_SHOWN);

  /** Reads what a GET asks for; `undefined`: it has to pass. */
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
    owner: sender.key === undefined ? undefined : keys.ownerOf(sender.key),
    client: exchangeOf(res).caller?.address ?? "",
    wanted: readDirectives(req.headers["cache-control"], req.headers.pragma),
  });

  /**
   * What legacy says of the key. While it fails, it says nothing: `unknown`. `late`: not in time, and it has not
   * accepted it within the hour.
   */
  const verdictOn = async (read: OldRead): Promise<"accepted" | "refused" | "unknown" | "late"> => {
    const { key, owner, client, posted } = read;
    if (key === undefined || owner === undefined) return "accepted";
    // Legacy takes a POST only with a key that may write.
    const verifying = keys.verify({ ...ownCaller(core.totalTimeout), client, key }, posted !== undefined);
    const refusal = await withTimeout(verifying, VERIFY_MS);
    if (refusal === "late" && outage.isOn()) return "unknown";
    if (refusal === "late") return keys.wasAccepted(owner) ? "accepted" : "late";
    if (refusal === undefined) return "accepted";
    return refusal.kind === "unauthenticated" || refusal.kind === "forbidden" ? "refused" : "unknown";
  };

  /** False where the request has to pass; or what may stand in place of legacy's answer to it. */
  const answerFor = async (req: IncomingMessage, res: ServerResponse, read: OldRead): Promise<boolean | Substitute> => {
    const { isSomebody, cacheKey, isBrowser = false } = read;
    const mayBeShownMore = isSomebody && (cacheKey.personal || isBrowser || moreShown.has(cacheKey.key));
    const needsLegacy = cached.isPassing(read) || mayBeShownMore;
    // Legacy may be failing already: the probe that is under way finds out.
    if (needsLegacy && outage.isInDoubt()) await outage.settled();
    // While it fails, what is stored for everybody is better than nothing.
    if (needsLegacy && !outage.isOn()) return mayBeShownMore && substituteFor(req, res, read);
    const verdict = await verdictOn(read);
    if (verdict === "unknown" && replies.wasRefused(read)) return replies.sendRefusal(res, read);
    if (verdict === "refused") return false;
    if (verdict === "late") return substituteFor(req, res, read);
    // Without an entry the request goes to legacy.
    const { onlyIfCached: _, ...wanted } = read.wanted;
    const served = await cached.answer({ ...read, wanted });
    if (served === "notForCache") return false;
    const { status } = served.answer;
    // What everybody does not find may be the caller's own. Where legacy failed, it has not said what everybody finds.
    const isFailed = served.isUnasked === true || !cached.isOfLegacy(served.answer);
    const mayHide = isSomebody && status !== 200 && !isFailed && read.posted === undefined;
    if (mayHide && !outage.isOn()) {
      moreShown.set(cacheKey.key, true);
      return substituteFor(req, res, read);
    }
    const isHidden = mayHide && !read.isList && !isFailure(served.judged ?? status);
    if (!res.destroyed) replies.send(req, res, read, isHidden ? uncached(cached.unasked(read).answer) : served);
    return true;
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
    // Node leaves a body alone that was looked at, also where the request does not pass.
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
