import type {
  ByteBudget,
  CallResult,
  Dependencies,
  FailureMeaning,
  Meter,
  Observer,
  Settings,
} from "../../operation/index.ts";
import { openBreaker } from "./breaker.ts";
import type { PartSettings } from "./parts.ts";
import { type Judge, observeCalls, openUpstream, openUpstreamHealth, type Upstream } from "./upstream.ts";
import { upstreamSettings } from "./upstreamSettings.ts";
import type { LegacyWatch } from "./watchLegacy.ts";

/** What watches the calls to a backend. */
export type Watch = { memory: ByteBudget; meter: Meter; dependencies: Dependencies; observer: Observer };

/** A backend: where it is, and what its failure means for callers. */
type BackendOptions<Pool extends string> = {
  name: "legacy" | "modern";
  /** `http://127.0.0.1:8080`, https too; no path. */
  origin: string;
  ca?: string | undefined;
  /** The names of its pools of connections: requests of one do not hold up those of another. */
  pools: readonly Pool[];
  /** Requests at most that wait for a connection, in each pool. */
  waiting?: number | undefined;
  /** Failures in a row that open its circuit, where no outage does. */
  failuresUntilOpen?: number;
  /** Says whether it fails; without it, its last answers do. */
  outage?: Omit<LegacyWatch, "close">;
  judge?: Judge;
  parts?: PartSettings;
  /** What operators are told while its last answers fail. Absent where an outage tells them. */
  meaning?: FailureMeaning;
};

/** A backend's connections and its circuit. All that watches it is the same for each backend. */
export type OpenBackend = ReturnType<typeof openBackend>;

/**
 * Opens a backend without a connection yet.
 *
 * @throws A TypeError where the origin is no URL.
 */
export const openBackend = <Pool extends string>(
  {
    name,
    origin,
    ca,
    pools: names,
    waiting,
    failuresUntilOpen = 3,
    outage,
    judge,
    parts,
    meaning,
  }: BackendOptions<Pool>,
  settings: Settings,
  { memory, meter, dependencies, observer }: Watch,
) => {
  const report = meaning && dependencies.add(name, meaning);
  let isUp = true;
  const lastAnswers = openUpstreamHealth((isOk, why) => {
    isUp = isOk;
    report?.(isOk, why);
  });
  const health = outage ? { ...lastAnswers, ...healthBy(outage) } : lastAnswers;
  const open = () =>
    openUpstream({
      ...upstreamSettings(settings),
      origin,
      ca,
      waiting,
      memory,
      health,
      judge,
      parts,
      onCall: observeCalls(observer, `${name}_asked`),
      onFault: observer.fault,
    });
  const pools = Object.fromEntries(names.map((pool) => [pool, open()])) as Record<Pool, Upstream>;
  const upstreams = Object.values<Upstream>(pools);
  const breaker = openBreaker((change, openFor = 0) => {
    if (change === "opened") observer.event("circuit_opened", { backend: name });
    else observer.event("circuit_closed", { backend: name, openFor: Math.round(openFor) });
  }, failuresUntilOpen);
  const circuit = () => (outage?.isOn() === true ? (outage.isAsking() ? "half_open" : "open") : breaker.circuit());
  meter.addBackend({ name, circuit, certificateExpiry: health.certificateExpiry });
  return {
    pools,
    /**
     * Makes the call where the circuit lets it, or `always`, and counts it. `undefined`: it fails, or the circuit is
     * open, and no call was made. `mayTry`: it may be sent while the backend fails, since nothing is stored for it.
     *
     * @throws As the call does.
     */
    async call<T>(call: () => Promise<T>, { mayTry = false, always = false } = {}): Promise<T | undefined> {
      const started = performance.now();
      let result: CallResult = "failed";
      try {
        let answer = outage === undefined ? await breaker.execute(call) : await callUnless(outage, mayTry, call);
        if (answer === undefined && always) answer = await call();
        result = answer === undefined ? "circuit_open" : "answered";
        return answer;
      } finally {
        meter.countCall(name, result, performance.now() - started);
      }
    },
    /** Its circuit is open, or the last requests did not reach it or its answers broke off. */
    isFailing: (): boolean => !isUp || breaker.circuit() !== "closed",
    closeCircuit: () => breaker.close(),
    /** The share of the connections that requests use or wait for: 0 where there are none. */
    load: (): number =>
      Math.max(...upstreams.map(({ semaphore: { waiting: queued, running } }) => queued + running)) /
      settings.MAX_CONNECTIONS,
    /** Waits for what is in flight, then closes all connections. */
    close: async (): Promise<void> => void (await Promise.all(upstreams.map((upstream) => upstream.close()))),
  };
};

/** What an outage hears of the requests of an upstream. */
const healthBy = ({ sent, begun, answered, failed }: Pick<LegacyWatch, "sent" | "begun" | "answered" | "failed">) => ({
  sent,
  begun,
  answered,
  failed,
});

/** While the backend fails only a request that may try is sent, one a second at most. */
const callUnless = async <T>(
  outage: Pick<LegacyWatch, "isOn" | "refused" | "tryOne">,
  mayTry: boolean,
  call: () => Promise<T>,
): Promise<T | undefined> => {
  if (!outage.isOn()) return call();
  outage.refused();
  return mayTry ? outage.tryOne(call) : undefined;
};
