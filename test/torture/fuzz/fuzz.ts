import type { Message } from "../lib/messageReader.ts";
import { type Random, openRandom } from "../lib/random.ts";
import { type ConnectionEvents, type Plan, runConnection } from "./connection.ts";
import { type WellFormed, judge, plainTarget } from "./oracle.ts";
import { pickFramed } from "./framing.ts";
import { pickForbidden, pickMangled, pickRead, pickRequest } from "./requests.ts";
import { type FuzzedUpstream, openFuzzedUpstream } from "./upstream.ts";

type FuzzOptions = {
  seed: number;
  /** The number of requests to send, malformed requests included. */
  requests: number;
  /** Concurrent clients, each with choices of its own. */
  clients: number;
  /** Milliseconds that an answer may take. */
  limit: number;
  /** Sends well-formed requests only, one after another, and no client leaves. */
  isPlain?: boolean;
  /** Makes the plan of each connection, of at most `most` requests; their nonces begin with `prefix`. */
  plan?: (random: Random, prefix: string, most: number) => Plan;
  /** Ends the run early where it answers true: the gateway is gone. */
  isOver?: () => boolean;
};

/** The counts of a run. */
export type FuzzTally = {
  sent: number;
  right: number;
  /** 502, 503 and 504 of the gateway, where the upstream was at fault. */
  gatewayErrors: number;
  /** Cut answers, where the upstream broke off. */
  cut: number;
  /** Errors although the upstream was sound: the request never reached it, or its answer came too late. */
  unsent: number;
  late: number;
  /** Not judged: the client left, or the connection was closed for a reason. */
  unjudged: number;
  malformed: number;
  wrong: number;
  hung: number;
  /** The first of those that are wrong or hung, with the client's number. */
  examples: string[];
};

const MAX_EXAMPLES = 20;
/** The number of hung or wrong requests after which a run gives up. */
const GIVE_UP = 300;

/**
 * A fuzzed upstream and the clients that will ask for it through a gateway; `run` sends all
 * requests to the gateway's port.
 */
export const openFuzz = async (
  options: FuzzOptions,
): Promise<{ upstream: FuzzedUpstream; run: (port: number) => Promise<FuzzTally> }> => {
  const { seed, requests, clients } = options;
  const tally = emptyTally();
  /** The number of times that each unanswered request arrived at the upstream. */
  const arrivals = new Map<string, number>();
  /** Damaged contents that the upstream sent, by the plain target that it was asked for. */
  const damaged = new Map<string, Buffer[]>();
  const add = (kind: "wrong" | "hung", example: string) => {
    tally[kind]++;
    if (tally.examples.length < MAX_EXAMPLES) tally.examples.push(`${kind}: ${example}`);
  };
  const upstream = await openFuzzedUpstream(seed, {
    arrived(nonce) {
      const count = arrivals.get(nonce);
      if (count !== undefined) arrivals.set(nonce, count + 1);
    },
    damaged(target, body) {
      const asked = plainTarget(target);
      damaged.set(asked, [...(damaged.get(asked) ?? []), body]);
    },
    unclean: (why, request) => add("wrong", `towards the upstream, ${why}: ${JSON.stringify(request.slice(0, 200))}`),
  });

  /** `at` names the client and its connection, which the seed determines. */
  const eventsOf = (at: string): ConnectionEvents => ({
    sent({ nonce }) {
      tally.sent++;
      if (nonce !== undefined) arrivals.set(nonce, 0);
    },
    answered(request, answer) {
      const { nonce } = request;
      record(request, answer, nonce === undefined ? 0 : (arrivals.get(nonce) ?? 0), at);
      if (nonce !== undefined) arrivals.delete(nonce);
    },
    sentMalformed() {
      tally.sent++;
      tally.malformed++;
    },
    dropped: (request) => add("wrong", `${at}, closed without an answer: ${described(request)}`),
    hung: (what) => add("hung", `${at}: ${JSON.stringify(what)}`),
    wrong: (what, why) => add("wrong", `${at}, ${why}: ${JSON.stringify(what)}`),
  });
  const record = (request: WellFormed, answer: Message, count: number, at: string) => {
    const judgement = judge(request, answer, count, damaged);
    if (judgement === "right") tally.right++;
    else if (judgement === "gatewayError") tally.gatewayErrors++;
    else if (typeof judgement === "string") tally[judgement]++;
    else add("wrong", `${at}, ${judgement.wrong}: ${described(request)}`);
  };

  const isOver = () => tally.wrong + tally.hung >= GIVE_UP || options.isOver?.() === true;
  const runClient = async (port: number, client: number): Promise<void> => {
    const random = openRandom(seed, client);
    const quota = Math.floor(requests / clients) + (client < requests % clients ? 1 : 0);
    for (let sent = 0, connection = 0; sent < quota && !isOver(); connection++) {
      const picked = (options.plan ?? pickPlan)(
        random,
        `c${client.toString(36)}x${connection.toString(36)}y`,
        quota - sent,
      );
      const plan = options.isPlain === true ? simplified(picked) : picked;
      const events = eventsOf(`client ${client}, connection ${connection}${plan.isPipelined ? " (pipelined)" : ""}`);
      sent += await runConnection({ port, plan, limit: options.limit, events });
      for (const { nonce } of plan.requests) if (nonce !== undefined) arrivals.delete(nonce);
    }
  };
  return {
    upstream,
    async run(port) {
      await Promise.all(Array.from({ length: clients }, (_, client) => runClient(port, client)));
      tally.unjudged = tally.sent - tally.malformed - judgedOf(tally);
      return tally;
    },
  };
};

const emptyTally = (): FuzzTally => ({
  sent: 0,
  right: 0,
  gatewayErrors: 0,
  cut: 0,
  unsent: 0,
  late: 0,
  unjudged: 0,
  malformed: 0,
  wrong: 0,
  hung: 0,
  examples: [],
});

const judgedOf = ({ right, gatewayErrors, cut, unsent, late, wrong }: FuzzTally): number =>
  right + gatewayErrors + cut + unsent + late + wrong;

const described = ({ method, target }: WellFormed): string => `${method} ${target}`;

/** Reads that may be hits, and behind them random framing. */
export const pickFramingPlan: NonNullable<FuzzOptions["plan"]> = (random) => ({
  requests: Array.from({ length: random.integer(3) }, () => pickRead(random)),
  isPipelined: random.chance(0.5),
  last: { is: "mangled", ...pickFramed(random) },
  endsByReset: random.chance(0.1),
  pieces: random.chance(0.3) ? 2 + random.integer(4) : 1,
});

const pickPlan: NonNullable<FuzzOptions["plan"]> = (random, prefix, most) => {
  const count = Math.min(most, 1 + random.integer(16));
  const requests: WellFormed[] = [];
  for (let i = 0; i < count; i++) {
    const request = pickRequest(random, `${prefix}${i}`);
    requests.push(request);
    if (request.closes) break;
  }
  const plan: Plan = {
    requests,
    isPipelined: random.chance(0.4),
    endsByReset: random.chance(0.1),
    pieces: random.chance(0.05) ? 2 + random.integer(4) : 1,
  };
  const isClosing = requests.at(-1)?.closes === true;
  if (random.chance(0.3) && requests.length < most && !isClosing) {
    const nonce = `${prefix}last`;
    plan.last = random.chance(0.6)
      ? { is: "forbidden", bytes: Buffer.from(pickForbidden(random, nonce), "latin1") }
      : { is: "mangled", bytes: pickMangled(random, nonce) };
  }
  if (random.chance(0.07))
    plan.leaves = { after: random.integer(random.chance(0.5) ? 5 : 100), how: random.pick(LEAVING) };
  if (random.chance(0.03)) plan.pause = 20 + random.integer(200);
  return plan;
};
const simplified = ({ requests }: Plan): Plan => ({ requests, isPipelined: false, endsByReset: false, pieces: 1 });
const LEAVING = ["close", "reset", "halfClose"] as const;
