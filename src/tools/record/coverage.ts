import { observeFields, type SeenFields } from "../../compare/fields.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { JsonObject, Rule } from "../../rules/rule.ts";
import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import type { FixtureAsk } from "./exchange.ts";
import { lastReading } from "./savePair.ts";
import type { Recorded, Recording } from "./recording.ts";
import { smallestCover } from "./smallestCover.ts";

/** The fewest recordings that show all variants, and what became of the other questions, by reason. */
type Coverage = {
  chosen: { name: string; recorded: Recorded }[];
  variants: number;
  asked: number;
  left: Record<string, number>;
};

/** The reason of those whose answer did not fit. */
export const SCHEMA_MISFIT = "the answer did not fit the schema";

/** Asks one after another, never the same twice, and nothing that writes. `key` is sent where a question came with one. */
export const coverRequests = async (
  requests: AsyncIterable<CorpusRequest>,
  endpoints: Readonly<Record<string, Endpoint>>,
  recording: Recording,
  { key, keepMisfits }: { key?: string; keepMisfits: boolean },
): Promise<Coverage> => {
  // Those that show the same are the same: of each, the first is kept.
  const seen = new Map<string, { id: { name: string; recorded: Recorded }; variants: ReadonlySet<string> }>();
  const recordedBefore = new Set<string>();
  const left: Record<string, number> = {};
  const leave = (why: string) => (left[why] = (left[why] ?? 0) + 1);

  const keep = async (name: string, endpoint: Endpoint, ask: FixtureAsk) => {
    const question = JSON.stringify([name, ask]);
    if (recordedBefore.has(question)) return leave("asked before");
    recordedBefore.add(question);
    const recorded = await recording.record(ask);
    // A legacy that has answered nothing yet is not there.
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
    else await keep(one.endpoint, endpoint, questionIn(one, key));
  }
  const candidates = [...seen.values()];
  const variants = new Set(candidates.flatMap((candidate) => [...candidate.variants])).size;
  return { chosen: smallestCover(candidates), variants, asked: recordedBefore.size, left };
};

const questionIn = ({ method, path, body, keyed }: CorpusRequest, key: string | undefined): FixtureAsk => ({
  method,
  path,
  ...(keyed && key !== undefined ? { key } : {}),
  ...(body === undefined ? {} : { json: body }),
});

/** Of one recording: its endpoint, its status, legacy's error or form, and what the document has at each place. */
const variantsShown = (name: string, endpoint: Endpoint, { status, legacy, ask }: Recorded): Set<string> => {
  const reading = lastReading(endpoint, legacy);
  const how =
    reading === undefined
      ? ["without legacy"]
      : reading.is === "document"
        ? [...variantsOf(endpoint.output, reading.document), `form ${reading.form}`]
        : [reading.is === "error" ? `error ${reading.code}` : "unreadable"];
  const all = [...how, `status ${status}`, `questions ${legacy.length}`, `asked by ${ask.method}`];
  return new Set(all.map((variant) => `${name} ${variant}`));
};

/**
 * The variants one legacy document shows of a rule tree: at each place of our document, what legacy's value there is
 * (`/creator text`, `/tag none`, `/data_ids many`). Fields that no rule reads are variants too.
 */
export const variantsOf = (rule: Rule, document: JsonObject): Set<string> => {
  const fields: SeenFields = {};
  observeFields(rule, document, fields);
  return new Set(
    Object.entries(fields).flatMap(([path, { seen }]) => Object.keys(seen).map((seenAs) => `${path} ${seenAs}`)),
  );
};
