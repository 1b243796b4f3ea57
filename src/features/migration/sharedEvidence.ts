import { hash, randomUUID } from "node:crypto";
import { z } from "zod";
import type { Difference } from "../../compare/difference.ts";
import type { CurlPair } from "../../compare/report.ts";
import { parseJson } from "../../rules/parseJson.ts";
import { openSecrets } from "../../scrub/secrets.ts";
import { connectRedis } from "../../store/redis/connection.ts";
import type { Mirrored } from "./shadow.ts";

/** One compared request, with its differences; nothing in it is secret. */
export type SharedComparison = Pick<Mirrored, "id" | "question"> & {
  endpoint: string;
  at: string;
  differences: Difference[];
  curl: CurlPair;
};

const callSchema = z.tuple([z.number().min(0), z.boolean()]);
const countSchema = z.int().min(0);

/** What was seen of one endpoint. Of its requests to each side, only the latest count; `buckets`: requests of a canary by caller's bucket. */
const endpointSchema = z.strictObject({
  hits: countSchema,
  others: countSchema,
  asked: z.strictObject({ legacy: z.array(callSchema), modern: z.array(callSchema) }),
  buckets: z.record(z.string(), countSchema),
});

const comparisonSchema = z.strictObject({
  endpoint: z.string(),
  id: z.string(),
  question: z.string(),
  at: z.string(),
  // Gateways of other builds publish on another channel: these are differences of ours.
  differences: z.array(z.custom<Difference>((one) => typeof one === "object" && one !== null)),
  curl: z.strictObject({ legacy: z.string().exactOptional(), candidate: z.string() }),
});

const messageSchema = z.strictObject({
  from: z.string(),
  endpoints: z.record(z.string(), endpointSchema),
  compared: z.array(comparisonSchema),
});

type SeenOfEndpoint = z.infer<typeof endpointSchema>;

/** What another gateway has seen since its last message. */
export type EvidenceOfAnother = {
  endpoints: Readonly<Record<string, SeenOfEndpoint>>;
  compared: readonly SharedComparison[];
};

/** Collects what this gateway sees, for the gateways that share its Redis. */
export type SharedEvidence = {
  answered(endpoint: string, isHit: boolean): void;
  asked(endpoint: string, side: "legacy" | "modern", ms: number, failed: boolean): void;
  calledFrom(endpoint: string, bucket: number): void;
  compared(mirrored: Mirrored, found: readonly Difference[], at: string): void;
  /** The gateways that were heard within the last 10 seconds, with this one. */
  gateways(): number;
  close(): void;
};

/** `scope`: gateways of another scope share nothing with this one. */
type SharedEvidenceSettings = { url: string; scope: string; onEvidence: (evidence: EvidenceOfAnother) => void };

/** Requests to a side, and comparisons, in one message. */
const MAX_ASKED = 1000;
const MAX_COMPARED = 1000;
/** Characters of one message's comparisons; of one answer, the differences that count, and those that have values. */
const MAX_CHARS = 1024 ** 2;
const MAX_DIFFERENCES = 100;
const MAX_WITH_VALUES = 20;
/** Characters of a message; a longer one is not ours. */
const MAX_MESSAGE_CHARS = 16 * 1024 ** 2;
/** Milliseconds between two messages, and for which a gateway counts after its last one. */
const PUBLISH_MS = 2000;
const PRESENT_MS = 10_000;

const secrets = openSecrets();

/** Publishes what this gateway has seen every two seconds. A message that Redis loses is missing in the evidence of the others. */
export const openSharedEvidence = ({ url, scope, onEvidence }: SharedEvidenceSettings): SharedEvidence => {
  const own = randomUUID();
  const channel = `catalog-gateway:evidence:${hash("sha256", scope, "base64url")}`;
  const others = new Map<string, number>();
  let endpoints = new Map<string, SeenOfEndpoint>();
  let compared: SharedComparison[] = [];
  let chars = 0;
  const of = (endpoint: string): SeenOfEndpoint => {
    const known = endpoints.get(endpoint) ?? { hits: 0, others: 0, asked: { legacy: [], modern: [] }, buckets: {} };
    endpoints.set(endpoint, known);
    return known;
  };
  const connection = connectRedis({
    url,
    channels: [channel],
    onMessage(text) {
      const parsed = messageSchema.safeParse(text.length > MAX_MESSAGE_CHARS ? undefined : parseJson(text));
      if (!parsed.success || parsed.data.from === own) return;
      const { from, ...evidence } = parsed.data;
      others.set(from, performance.now());
      onEvidence(evidence);
    },
    onListening: () => undefined,
    // The store of the stages uses the same Redis, and reports what is wrong with it.
    onError: () => undefined,
  });
  const present = (): number => {
    for (const [id, at] of others) if (performance.now() - at > PRESENT_MS) others.delete(id);
    return others.size;
  };
  const publish = (): void => {
    const message = { from: own, endpoints: Object.fromEntries(endpoints), compared };
    connection.publish(channel, JSON.stringify(message));
    endpoints = new Map();
    compared = [];
    chars = 0;
  };
  const timer = setInterval(publish, PUBLISH_MS).unref();

  return {
    answered: (endpoint, isHit) => void of(endpoint)[isHit ? "hits" : "others"]++,
    asked(endpoint, side, ms, failed) {
      const latest = of(endpoint).asked[side];
      latest.push([ms, failed]);
      if (latest.length > MAX_ASKED) latest.shift();
    },
    calledFrom(endpoint, bucket) {
      const { buckets } = of(endpoint);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    },
    compared({ name: endpoint, id, question, key, curl }, found, at) {
      if (compared.length >= MAX_COMPARED || chars >= MAX_CHARS) return;
      const caller = secrets.ofCaller(key);
      const differences = found.slice(0, MAX_DIFFERENCES).map((difference, i) => {
        const { legacy: _, expected: __, candidate: ___, ...bare } = difference;
        return caller.json(i < MAX_WITH_VALUES ? difference : bare);
      });
      const one = { endpoint, id, question: caller.text(question), at, differences, curl: curl(caller) };
      chars += JSON.stringify(one).length;
      compared.push(one);
    },
    gateways: () => 1 + present(),
    close() {
      clearInterval(timer);
      connection.close();
    },
  };
};
