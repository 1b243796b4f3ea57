import type { Endpoint } from "../endpoint/endpoint.ts";
import type { JsonObject } from "../rules/rule.ts";
import type { FixtureAsk } from "./exchange.ts";
import { lastReading } from "./lastReading.ts";
import type { Recorded, Recording } from "./recording.ts";
import { smallestCover } from "./smallestCover.ts";
import { variantsOf } from "./variants.ts";

/** One question of a log: `path` is below the prefix, `shape` what it has in common with others, `keyed` says that it came with a key. */
export type Ask = {
  endpoint: string;
  method: "GET" | "POST";
  path: string;
  body?: JsonObject;
  keyed: boolean;
  status?: number;
  shape: string;
};

/** The fewest recordings that show all variants, and what became of the other questions, by reason. */
export type Coverage = {
  chosen: { name: string; recorded: Recorded }[];
  variants: number;
  asked: number;
  left: Record<string, number>;
};

/** The reason of those whose answer did not fit. */
export const MISFIT = "the answer did not fit the schema";

/** Asks one after another, never the same twice, and nothing that writes. `key` is sent where a question came with one. */
export const coverageOf = async (
  asks: AsyncIterable<Ask>,
  endpoints: Readonly<Record<string, Endpoint>>,
  recording: Recording,
  { key, keepMisfits }: { key?: string; keepMisfits: boolean },
): Promise<Coverage> => {
  // Those that show the same are the same: of each, the first is kept.
  const seen = new Map<string, { id: { name: string; recorded: Recorded }; variants: ReadonlySet<string> }>();
  const questions = new Set<string>();
  const left: Record<string, number> = {};
  const leave = (why: string) => (left[why] = (left[why] ?? 0) + 1);
  for await (const one of asks) {
    const endpoint = Object.hasOwn(endpoints, one.endpoint) ? endpoints[one.endpoint] : undefined;
    const why = whyNot(endpoint, one, key);
    const ask = questionIn(one, key);
    const question = JSON.stringify([one.endpoint, ask]);
    if (endpoint === undefined || why !== undefined) leave(why ?? "unknown endpoint");
    else if (questions.has(question)) leave("asked before");
    else {
      questions.add(question);
      const recorded = await recording.record(endpoint, ask);
      // A legacy that has answered nothing yet is not there.
      if ("failed" in recorded && seen.size === 0) throw new Error(recorded.failed);
      if ("failed" in recorded) leave(recorded.failed.replace(/:.*/, ""));
      else if (recorded.mismatch.length > 0 && !keepMisfits) leave(MISFIT);
      else {
        const variants = variantsShown(one.endpoint, endpoint, recorded);
        const signature = JSON.stringify([...variants].toSorted());
        if (!seen.has(signature)) seen.set(signature, { id: { name: one.endpoint, recorded }, variants });
      }
    }
  }
  const candidates = [...seen.values()];
  const variants = new Set(candidates.flatMap((candidate) => [...candidate.variants])).size;
  return { chosen: smallestCover(candidates), variants, asked: questions.size, left };
};

const whyNot = (endpoint: Endpoint | undefined, { keyed }: Ask, key: string | undefined): string | undefined =>
  endpoint === undefined
    ? "unknown endpoint"
    : endpoint.writes
      ? "writes"
      : keyed && key === undefined
        ? "came with a key, and --key is not given"
        : undefined;

const questionIn = ({ method, path, body, keyed }: Ask, key: string | undefined): FixtureAsk => ({
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
