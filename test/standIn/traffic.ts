import { setTimeout as sleep } from "node:timers/promises";
import { pseudoRandom } from "../../bench/pseudoRandom.ts";
import type { JsonObject } from "../../src/catalogue/rules/rule.ts";
import type { CorpusRequest } from "../../tools/corpus/corpusRequest.ts";
import { exampleRequests, idRequests, requestFor } from "../../tools/corpus/madeRequests.ts";
import { sampleCatalogue } from "../../tools/sampleLegacy/catalogue.ts";
import { endpoints } from "../../transforms/index.ts";

/** One request of the new interface; some carry a key. */
export type TrafficRequest = Pick<CorpusRequest, "endpoint" | "method" | "path" | "body"> & { key?: string };

// Without those that crash legacy (a form feed, a bare ampersand): they say nothing about another implementation.
const crashing = new Set(
  sampleCatalogue.datasets.flatMap(({ id, description }) => (description?.includes("\f") ? id : [])),
);
const ids = Array.from({ length: 130 }, (_, i) => i + 1).filter((id) => !crashing.has(id));
const pages = [1, 2, 5, 10, 20, 50].flatMap((limit) => [0, 5, 10].map((offset) => ({ limit, offset })));
const filters: JsonObject[] = [
  {},
  ...["active", "all", "deactivated", "in_preparation"].map((status) => ({ status })),
  ...["study_10", "demo", "time_series", "flowers"].map((tag) => ({ tag })),
  { number_instances: "100..2000" },
  { uploader: 1, data_version: 1 },
  { data_id: [1, 2, 61] },
];

/** Requests of one kind: every example, ids of everything, pages of the list of datasets. */
export const madeRequests: readonly (readonly TrafficRequest[])[] = [
  exampleRequests(endpoints),
  [...idRequests(endpoints, ids)],
  filters.flatMap((filter) =>
    pages.flatMap((page) => requestFor("listDatasets", endpoints.listDatasets, { ...filter, ...page }) ?? []),
  ),
].map((requests) =>
  requests.map(({ endpoint, method, path, body }) => ({ endpoint, method, path, ...(body && { body }) })),
);

const keys = sampleCatalogue.users.map(({ key }) => key);

/**
 * `count` requests over the sample catalogue, of each kind alike and one of 25 with a key; the
 * same requests for the same seed.
 */
export function* trafficOf(seed: number, count: number): Generator<TrafficRequest> {
  const random = pseudoRandom(seed);
  const pick = <T>(choices: readonly T[]) => choices[Math.floor(random() * choices.length)] as T;
  for (let i = 0; i < count; i++) yield { ...pick(pick(madeRequests)), ...(i % 25 === 24 ? { key: pick(keys) } : {}) };
}

/** The options of `fetch` for a request. */
export const initOf = ({ method, body, key }: TrafficRequest, agent = "node"): RequestInit => ({
  method,
  headers: {
    "User-Agent": agent,
    ...(key === undefined ? {} : { "X-API-Key": key }),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
  },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
});

const agents = ["catalogue-py/0.15.1", "catalogue-r/1.14", "curl/8.11.0"];

/**
 * Sends `perSecond` of these requests a second until the signal; `beside` is called at each with
 * its number, to send others.
 */
export const sendTraffic = async (
  client: string,
  perSecond: number,
  signal: AbortSignal,
  beside: (send: (path: string, init?: RequestInit) => void, count: number, agent: string) => void,
): Promise<void> => {
  const send = (path: string, init: RequestInit = {}): void =>
    void fetch(client + path, { ...init, signal })
      .then((answer) => answer.arrayBuffer())
      .catch(() => undefined);
  let count = 0;
  for (const request of trafficOf(1, Number.MAX_SAFE_INTEGER)) {
    if (signal.aborted) return;
    const agent = agents[count % agents.length] as string;
    send(`/v1${request.path}`, initOf(request, agent));
    beside(send, count++, agent);
    await sleep(1000 / perSecond, undefined, { signal }).catch(() => undefined);
  }
};
