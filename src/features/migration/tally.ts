import type { Difference } from "../../compare/difference.ts";
import type { CurlPair } from "../../compare/report.ts";
import { openSecrets } from "../../scrub/secrets.ts";
import type { Mirrored } from "./shadow.ts";
import type { Track } from "./track.ts";

/** One compared request, with its differences; nothing in it is secret. */
export type TalliedComparison = Pick<Mirrored, "id" | "question"> & {
  endpoint: string;
  at: string;
  differences: Difference[];
  curl: CurlPair;
};

type Call = [ms: number, isFailed: boolean];

/** What was seen of one endpoint. Of its requests to each side, only the latest count. */
type EndpointTally = {
  hits: number;
  others: number;
  asked: { legacy: Call[]; modern: Call[] };
  /** Requests of a canary by the bucket of their caller. */
  buckets: Record<string, number>;
};

/** What a worker has seen since its last report. */
type MigrationTally = { endpoints: Record<string, EndpointTally>; compared: TalliedComparison[] };

/** Requests to a side, and comparisons, in one report. */
const MAX_ASKED = 1000;
const MAX_COMPARED = 1000;
/** Characters of values in one report, and differences of one answer that have values; more come without. */
const MAX_CHARS = 1024 ** 2;
const MAX_WITH_VALUES = 20;

const secrets = openSecrets();

/** Collects what a worker sees for its next report. */
export const openWorkerTally = () => {
  let endpoints = new Map<string, EndpointTally>();
  let compared: TalliedComparison[] = [];
  let chars = 0;
  const of = (endpoint: string): EndpointTally => {
    const known = endpoints.get(endpoint) ?? { hits: 0, others: 0, asked: { legacy: [], modern: [] }, buckets: {} };
    endpoints.set(endpoint, known);
    return known;
  };
  return {
    /** Counts what a track counts. */
    track: (endpoint: string): Pick<Track, "answered" | "asked"> => ({
      answered: (isHit) => void of(endpoint)[isHit ? "hits" : "others"]++,
      asked(side, ms, failed) {
        const latest = of(endpoint).asked[side];
        latest.push([ms, failed]);
        if (latest.length > MAX_ASKED) latest.shift();
      },
    }),
    calledFrom(endpoint: string, bucket: number): void {
      const { buckets } = of(endpoint);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    },
    compared({ name: endpoint, id, question, key, curl }: Mirrored, found: readonly Difference[], at: string): void {
      if (compared.length >= MAX_COMPARED) return;
      const caller = secrets.ofCaller(key);
      const differences = found.map((difference, i) => {
        const { legacy, expected, candidate, ...bare } = difference;
        if (i >= MAX_WITH_VALUES || chars >= MAX_CHARS) return bare;
        const text = JSON.stringify({ legacy, expected, candidate });
        chars += text.length;
        return chars > MAX_CHARS ? bare : { ...bare, ...caller.json(JSON.parse(text) as Partial<Difference>) };
      });
      compared.push({ endpoint, id, question: caller.text(question), at, differences, curl: curl(caller) });
    },
    /** The endpoint has moved: what was seen before does not count. */
    moved(endpoint: string): void {
      endpoints.delete(endpoint);
      compared = compared.filter((one) => one.endpoint !== endpoint);
    },
    /** All since the last call; `undefined` if there is nothing. */
    take(): MigrationTally | undefined {
      if (endpoints.size === 0 && compared.length === 0) return undefined;
      const taken = { endpoints: Object.fromEntries(endpoints), compared };
      endpoints = new Map();
      compared = [];
      chars = 0;
      return taken;
    },
  };
};

/** What takes the parts of a tally that are not measured by tracks alone. */
type TallyReceiver = {
  record: (one: TalliedComparison) => void;
  noteBucket: (endpoint: string, bucket: number, count: number) => void;
};

/** Adds a worker's tally to the tracks of the primary process. `record` is called with each comparison. */
export const addTally = (
  { endpoints, compared }: MigrationTally,
  trackOf: (endpoint: string) => Track | undefined,
  { record, noteBucket }: TallyReceiver,
): void => {
  for (const [endpoint, { hits, others, asked, buckets }] of Object.entries(endpoints)) {
    const track = trackOf(endpoint);
    track?.answered(true, hits);
    track?.answered(false, others);
    for (const side of ["legacy", "modern"] as const)
      for (const [ms, isFailed] of asked[side]) track?.asked(side, ms, isFailed);
    if (track) for (const [bucket, count] of Object.entries(buckets)) noteBucket(endpoint, Number(bucket), count);
  }
  for (const one of compared) record(one);
};
