import { setTimeout as sleep } from "node:timers/promises";
import { exampleRequests } from "../../src/tools/corpus/madeRequests.ts";
import { sampleCatalogue } from "../../src/tools/sampleLegacy/catalogue.ts";
import { endpoints } from "../../transforms/index.ts";
import { type Chance, chanceOf } from "./chance.ts";
import { listQuestion, type TrafficQuestion } from "./listQuestion.ts";
import { CALLERS, type TrafficClient, trafficClient } from "./trafficClients.ts";

/** One request of the new interface: what is asked, and by whom. */
export type TrafficRequest = TrafficQuestion & TrafficClient & { endpoint: string };

/** Lists that can be asked for: most requests are for popular ones, so many of a hundred for any. */
const LISTS = 20_000;
const ANY_LIST = 53;
const MAX_ID = 50_000;

const get = (path: string): TrafficQuestion => ({ method: "GET", path });
const notIds = ["abc", "1.5", "0x3d", "61,62", "-", "NaN"];

/** An id that mostly exists: a few are asked for often, the others seldom; some are unknown, some no ids. */
const idOf = (ids: readonly number[], { popular, percent, below, of }: Chance): string => {
  if (percent(5)) return String(1 + below(MAX_ID));
  return percent(2) ? of(notIds) : String(ids[popular(ids.length)]);
};

// Without those that crash legacy (a form feed, a bare ampersand): they say nothing about another implementation.
const datasetIds = sampleCatalogue.datasets
  .flatMap(({ id, description }) => (description?.includes("\f") ? [] : [id]))
  .toReversed();
const setupIds = sampleCatalogue.setups.map(({ id }) => id);
const studyKeys = sampleCatalogue.studies
  .filter(({ description }) => !description.includes("&"))
  .toSorted((a, b) => Number(a.legacy !== undefined) - Number(b.legacy !== undefined))
  .flatMap(({ id, alias }) => [id, ...(alias === undefined ? [] : [alias])]);
/** A path can carry them; those that legacy looks up only with a key are seldom asked for. */
const flows = sampleCatalogue.flows
  .filter(({ name }) => /^[\w.,()=-]+$/.test(name))
  .toSorted((a, b) => Number(a.external_version.includes("=")) - Number(b.external_version.includes("=")));

const studyQuestion = ({ popular, percent, of, below }: Chance): TrafficQuestion => {
  const key = percent(4)
    ? of(["no-such-study", String(below(MAX_ID)), "1", "a b"])
    : String(studyKeys[popular(studyKeys.length)]);
  return get(`${of(["/studies", "/study"])}/${encodeURIComponent(key)}`);
};

const questionOf = ({ method, path, body }: TrafficQuestion): TrafficQuestion =>
  body === undefined ? { method, path } : { method, path, body };

const flowQuestion = ({ popular, percent, of, below }: Chance): TrafficQuestion => {
  const { name, external_version: version } = flows[popular(flows.length)] ?? { name: "", external_version: "" };
  const other = percent(10) ? `${version}.${below(50)}` : version;
  return get(`/${of(["flow", "flows"])}/exists/${[name, other].map(encodeURIComponent).join("/")}`);
};

type Part = [endpoint: string, share: number, question: (chance: Chance, seed: string) => TrafficQuestion];

/** Endpoints whose requests are made from the sample catalogue: the share of each, and a request for it. */
const known: Part[] = [
  [
    "listDatasets",
    80,
    ({ popular, percent, below }, seed) =>
      listQuestion(chanceOf(`${seed} list ${percent(ANY_LIST) ? below(LISTS) : popular(LISTS)}`)),
  ],
  ["getDataset", 28, (chance) => get(`/datasets/${idOf(datasetIds, chance)}${chance.percent(3) ? "/" : ""}`)],
  ["getStudy", 9, studyQuestion],
  ["getSetup", 8, (chance) => get(`/${chance.of(["setup", "setups"])}/${idOf(setupIds, chance)}`)],
  ["findFlow", 6, flowQuestion],
  ["listEstimationProcedures", 3, () => get("/estimationprocedure/list")],
  ["listEvaluationMeasures", 3, ({ of }) => get(`/${of(["evaluationmeasures", "evaluationmeasure"])}/list`)],
];

/** The share of an endpoint that is not among them: it gets the requests of its examples. */
const SHARE = 2;

const mix: Part[] = [
  ...known,
  ...Object.keys(endpoints).flatMap((name): Part[] => {
    const examples = exampleRequests(endpoints).filter(({ endpoint }) => endpoint === name);
    const isKnown = known.some(([endpoint]) => endpoint === name);
    return isKnown || examples.length === 0 ? [] : [[name, SHARE, ({ of }) => questionOf(of(examples))]];
  }),
];
const SHARES = mix.reduce((sum, [, share]) => sum + share, 0);

/** So many requests over the sample catalogue, the same ones for the same seed. */
export function* trafficOf(seed: number, count: number): Generator<TrafficRequest> {
  const chance = chanceOf(`traffic ${seed}`);
  for (let i = 0; i < count; i++) {
    let left = chance.below(SHARES);
    const [endpoint, , question] = mix.find(([, share]) => (left -= share) < 0) as (typeof mix)[number];
    yield { endpoint, ...question(chance, String(seed)), ...trafficClient(chance.popular(CALLERS)) };
  }
}

/** Sends so many of these requests a second until the signal; `beside` is called at each with its number, to send others. */
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
  for (const { method, path, body, key, client: agent } of trafficOf(1, Number.MAX_SAFE_INTEGER)) {
    if (signal.aborted) return;
    const headers = {
      "User-Agent": agent,
      ...(key === undefined ? {} : { "X-API-Key": key }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    };
    send(`/v1${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    beside(send, count++, agent);
    await sleep(1000 / perSecond, undefined, { signal }).catch(() => undefined);
  }
};
