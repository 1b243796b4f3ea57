import type { ByteBudget, CallResult, Dependencies, Meter, Observer, Settings } from "../../operation/index.ts";
import { observeCalls, openUpstream, type Upstream, type UpstreamHealth, type UpstreamSettings } from "./upstream.ts";
import { upstreamSettings } from "./upstreamSettings.ts";

/** What watches the calls to a backend. */
export type Watch = { memory: ByteBudget; meter: Meter; dependencies: Dependencies; observer: Observer };

/** Knows how a backend is by its requests, and which calls are made. */
type BackendHealth = UpstreamHealth & {
  circuit: () => "closed" | "half_open" | "open";
  /** Makes a call; `undefined`: the backend fails, and no call was made. `isNeeded`: nothing stands in its place. */
  execute: <T>(call: () => Promise<T>, isNeeded: boolean) => Promise<T | undefined>;
};

/**
 * A backend: where it is, and how it is. `pools`: the names of its pools of connections; requests of one do not hold
 * up those of another.
 */
type BackendOptions<Pool extends string> = Pick<UpstreamSettings, "origin" | "ca" | "waiting" | "judge" | "parts"> & {
  name: "legacy" | "modern";
  pools: readonly Pool[];
  health: BackendHealth;
};

/** A backend's connections. All that counts its calls is the same for each backend. */
export type OpenBackend = ReturnType<typeof openBackend>;

/**
 * Opens a backend without a connection yet.
 *
 * @throws A TypeError where the origin is no URL.
 */
export const openBackend = <Pool extends string>(
  { name, pools: names, health, ...options }: BackendOptions<Pool>,
  settings: Settings,
  { memory, meter, observer }: Omit<Watch, "dependencies">,
) => {
  let expiry: number | undefined;
  const onCertificate = (validTo: string): void => {
    const time = Date.parse(validTo);
    if (!Number.isNaN(time)) expiry = time / 1000;
  };
  const open = () =>
    openUpstream({
      ...upstreamSettings(settings),
      ...options,
      memory,
      health,
      onCertificate,
      onCall: observeCalls(observer, `${name}_asked`),
      onFault: observer.fault,
    });
  const pools = Object.fromEntries(names.map((pool) => [pool, open()])) as Record<Pool, Upstream>;
  const upstreams = Object.values<Upstream>(pools);
  meter.addBackend({ name, circuit: health.circuit, certificateExpiry: () => expiry });
  return {
    pools,
    /**
     * Makes a call, unless the backend fails and the call is not needed, and counts it. `undefined`: it was not made.
     *
     * @throws As the call does.
     */
    async call<T>(call: () => Promise<T>, isNeeded = false): Promise<T | undefined> {
      const started = performance.now();
      let result: CallResult = "failed";
      try {
        const answer = await health.execute(call, isNeeded);
        result = answer === undefined ? "circuit_open" : "answered";
        return answer;
      } finally {
        meter.countCall(name, result, performance.now() - started);
      }
    },
    /** The share of the connections that requests use or wait for: 0 where there are none. */
    load: (): number =>
      Math.max(...upstreams.map(({ semaphore: { waiting, running } }) => waiting + running)) / settings.MAX_CONNECTIONS,
    /** Waits for what is in flight, then closes all connections. */
    close: async (): Promise<void> => void (await Promise.all(upstreams.map((upstream) => upstream.close()))),
  };
};
