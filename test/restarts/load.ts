import { Agent } from "node:http";
import { type AskOptions, ask } from "../torture/lib/client.ts";
import { type HttpUpstream, openUpstream } from "../torture/lib/upstreams.ts";
import { sleep } from "../support/waiting.ts";
import type { Balancer } from "./balancers.ts";

/** Requests of one kind through one balancer: sent so many, and what the failed ones came to. */
export type Tally = { balancer: string; kind: string; sent: number; failures: string[] };

/** Clients of each balancer; half of them open a connection for each request. */
const CLIENTS = 8;
/** Milliseconds that a client waits between two requests, at most. */
const PAUSE_MS = 40;
/** Milliseconds that legacy takes for a POST, at most: so some are always in flight. */
const SLOW_MS = 60;

const measures = '{"evaluation_measures":{"measures":{"measure":"kappa"}}}';
const tagged = '{"setup_tag":{"id":"1","tag":"a"}}';
const key = "0".repeat(32);

type Kind = { name: string; path: string; options?: AskOptions; expected: string };

const kinds: readonly Kind[] = [
  { name: "hit", path: "/v1/evaluationmeasures/list", expected: '["kappa"]' },
  {
    name: "miss",
    path: "/v1/evaluationmeasures/list",
    options: { headers: { "Cache-Control": "no-store" } },
    expected: '["kappa"]',
  },
  { name: "pass-through", path: "/api/v1/json/evaluationmeasure/list", expected: measures },
  {
    name: "POST",
    path: "/v1/setup/tag",
    options: { method: "POST", headers: { "X-API-Key": key }, body: '{"setup_id":1,"tag":"a"}' },
    expected: '{"setup_tag":{"id":1,"tag":["a"]}}',
  },
  {
    name: "proxied POST",
    path: "/api/v1/json/setup/tag",
    options: { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: "a=b" },
    expected: tagged,
  },
];

/** A legacy that answers these requests. */
export const openLegacy = (): Promise<HttpUpstream> =>
  openUpstream(({ method }, response) => {
    if (method === "POST") setTimeout(() => response.end(tagged), Math.random() * SLOW_MS);
    else response.end(measures);
  });

/** Sends requests of all kinds through the balancers until `stop` is called, which resolves with the tallies when all are answered. */
export const startLoad = (balancers: readonly Balancer[]) => {
  const stopped = new AbortController();
  const tallies: Tally[] = [];
  const clients = balancers.flatMap(({ name: balancer, port }) => {
    const own = kinds.map((kind) => ({
      kind,
      tally: { balancer, kind: kind.name, sent: 0, failures: [] as string[] },
    }));
    tallies.push(...own.map(({ tally }) => tally));
    const run = async (agent: Agent): Promise<void> => {
      while (!stopped.signal.aborted)
        for (const { kind, tally } of own) {
          const { status, body } = await ask(port, kind.path, { ...kind.options, agent });
          tally.sent++;
          const text = body.toString();
          if (status !== 200 || text !== kind.expected)
            tally.failures.push(`${new Date().toISOString()} ${status} ${text.replaceAll(/\s+/g, " ").slice(0, 100)}`);
          await sleep(Math.random() * PAUSE_MS);
        }
    };
    const keepAlive = new Agent({ keepAlive: true });
    const closing = new Agent({ keepAlive: false });
    return Array.from({ length: CLIENTS }, (_, i) => run(i % 2 === 0 ? keepAlive : closing));
  });
  return {
    tallies: tallies as readonly Tally[],
    async stop(): Promise<void> {
      stopped.abort();
      await Promise.all(clients);
    },
  };
};
