import { observeFields, type SeenFields } from "../../compare/fields.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { JsonObject, Rule } from "../../rules/rule.ts";
import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import type { FixtureAsk } from "./exchange.ts";
import type { Recorded, Recording } from "./recording.ts";
import { lastReading } from "./savePair.ts";
import { smallestCover } from "./smallestCover.ts";

/** The fewest recordings that show all variants; `left`: numbers of requests that were left out, by reason. */
type Coverage = {
  chosen: { name: string; recorded: Recorded }[];
  variants: number;
  sent: number;
  left: Record<string, number>;
};

/** The reason of requests whose answer did not fit. */
export const SCHEMA_MISFIT = "the answer did not fit the schema";

/** Sends the requests one after another: each once, and none that writes. `key` is sent where a request came with a key. */
export const coverRequests = async (
  requests: AsyncIterable<CorpusRequest>,
  endpoints: Readonly<Record<string, Endpoint>>,
  recording: Recording,
  { key, keepMisfits }: { key?: string; keepMisfits: boolean },
): Promise<Coverage> => {
  // By the variants they show: of recordings that show the same, the first is taken.
  const seen = new Map<string, { id: { name: string; recorded: Recorded }; variants: ReadonlySet<string> }>();
  const recordedBefore = new Set<string>();
  const left: Record<string, number> = {};
  const leave = (why: string) => (left[why] = (left[why] ?? 0) + 1);

  const tryOne = async (name: string, endpoint: Endpoint, ask: FixtureAsk) => {
    const identity = JSON.stringify([name, ask]);
    if (recordedBefore.has(identity)) return leave("asked before");
    recordedBefore.add(identity);
    const recorded = await recording.record(ask);
    // A legacy that fails at the first request cannot be reached.
    if ("failed" in recorded && seen.size === 0) throw new Error(recorded.failed);
    if ("failed" in recorded) return leave(recorded.failed.replace(/:.*/, ""));
    if (recorded.mismatch.length > 0 && !keepMisfits) return leave(SCHEMA_MISFIT);
    const variants = variantsShown(name, endpoint, recorded);
    const signature = JSON.stringify([...variants].toSorted());
    if (!seen.has(signature)) seen.set(signature, { id: { name, recorded }, variants });
    return undefined;
  };
  for await (const one of requests) {
    const endpoint = Object.hasOwn(endpoints, one.endpoint) ? endpoints[one.endpoint] : undefined;
    if (endpoint === undefined) leave("unknown endpoint");
    else if (endpoint.writes) leave("it writes");
    else if (one.keyed && key === undefined) leave("it came with a key, and --key is not given");
    else await tryOne(one.endpoint, endpoint, fixtureAsk(one, key));
  }
  const candidates = [...seen.values()];
  const variants = new Set(candidates.flatMap((candidate) => [...candidate.variants])).size;
  return { chosen: smallestCover(candidates), variants, sent: recordedBefore.size, left };
};

const fixtureAsk = ({ method, path, body, keyed }: CorpusRequest, key: string | undefined): FixtureAsk => ({
  method,
  path,
  ...(keyed && key !== undefined ? { key } : {}),
  ...(body === undefined ? {} : { json: body }),
});

/** The variants that a recording shows: its status, legacy's error or format, and those of the document's places. */
const variantsShown = (name: string, endpoint: Endpoint, { status, legacy, ask }: Recorded): Set<string> => {
  const reading = lastReading(endpoint, legacy);
  const read =
    reading === undefined
      ? ["without legacy"]
      : reading.is === "document"
        ? [...variantsOf(endpoint.output, reading.document), `form ${reading.form}`]
        : [reading.is === "error" ? `error ${reading.code}` : "unreadable"];
  const all = [...read, `status ${status}`, `questions ${legacy.length}`, `asked by ${ask.method}`];
  return new Set(all.map((variant) => `${name} ${variant}`));
};

/**
 * The variants that a legacy document shows of a rule: the kind of legacy's value at each place of our document (`/creator text`,
 * `/tag none`, `/data_ids many`). Fields that no rule reads are variants, too.
 */
export const variantsOf = (rule: Rule, document: JsonObject): Set<string> => {
  const fields: SeenFields = {};
  observeFields(rule, document, fields);
  return new Set(
    Object.entries(fields).flatMap(([path, { seen }]) => Object.keys(seen).map((seenAs) => `${path} ${seenAs}`)),
  );
};
