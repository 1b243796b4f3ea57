import type { ByteBudget, CallResult, Dependencies, Meter, Observer, Settings } from "../../operation/index.ts";
import { observeCalls, openUpstream, type Upstream, type UpstreamHealth, type UpstreamSettings } from "./upstream.ts";
import { upstreamSettings } from "./upstreamSettings.ts";

/** The services that watch the calls to a backend. */
export type Watch = { memory: ByteBudget; meter: Meter; dependencies: Dependencies; observer: Observer };

/** The health of a backend, as its requests show it; it decides which calls are made. */
type BackendHealth = UpstreamHealth & {
  circuit: () => "closed" | "half_open" | "open";
  /** Makes a call; `undefined`: the backend fails, and no call was made. `isNeeded`: there is no other answer. */
  execute: <T>(call: () => Promise<T>, isNeeded: boolean) => Promise<T | undefined>;
};

/**
 * A backend's address and health. `pools`: the names of its pools of connections. The requests of a pool do not delay
 * the requests of another pool.
 */
type BackendOptions<Pool extends string> = Pick<UpstreamSettings, "origin" | "ca" | "waiting" | "judge" | "parts"> & {
  name: "legacy" | "modern";
  pools: readonly Pool[];
  health: BackendHealth;
};

/** A backend's connections, whose calls are counted in the same way for each backend. */
export type OpenBackend = ReturnType<typeof openBackend>;

/**
 * Opens a backend. It connects with the first request.
 *
 * @throws A TypeError if the origin is not a URL.
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
  meter.addBackend({ name, circuit: () => health.circuit(), certificateExpiry: () => expiry });
  return {
    pools,
    /**
     * Makes and counts a call, unless the backend fails and the call is not needed. `undefined`: the call was not made.
     *
     * @throws The error of the call.
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
    /** The number of requests that use or wait for a connection, as a share of the connections; the fullest pool's. */
    load: (): number =>
      Math.max(...upstreams.map(({ semaphore: { waiting, running } }) => waiting + running)) / settings.MAX_CONNECTIONS,
    /** Waits for the requests in flight, then closes all connections. */
    close: async (): Promise<void> => void (await Promise.all(upstreams.map((upstream) => upstream.close()))),
  };
};
