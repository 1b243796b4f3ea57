import { endpoints } from "../../transforms/index.ts";
import { outageForms } from "../../tools/sampleLegacy/outages.ts";
import type { listeningGateway } from "../gateway/http/support.ts";
import { until } from "../support/waiting.ts";

/** By default errors are kept for a minute at most, which is shorter than an outage. */
const lifetimes = Object.fromEntries(
  Object.entries(endpoints).flatMap(([name, { cache }]) =>
    cache ? [[name, { notFoundTtl: "7d", preconditionTtl: "7d" }]] : [],
  ),
);

/** The settings of a gateway that caches all that old clients read. */
export const caching = { CACHE_LEGACY: "all", CACHE_LIFETIMES: JSON.stringify(lifetimes) };

type Gateway = Awaited<ReturnType<typeof listeningGateway>>;

/** Has the gateway probe legacy, which it does for a request once some time has passed. */
const knowsLegacyIsWell = async ({ url, core }: Gateway, pass: (ms: number) => void): Promise<boolean> => {
  pass(5000);
  const answer = await fetch(`${url}/v1/evaluationmeasures/list`, { headers: { "Cache-Control": "no-cache" } });
  await answer.arrayBuffer();
  return core.meter.openCircuits().length === 0;
};

/**
 * Calls `meet` in each form of outage of the legacy at this address, one after the other. Before each call all that the
 * gateway has becomes stale; all calls together take less than the seven days for which it is served then. After each
 * the gateway knows that legacy is well.
 */
export const eachOutage = async (
  legacy: string,
  gateway: Gateway,
  { pass }: { pass: (ms: number) => void },
  meet: (form: string) => Promise<void>,
): Promise<void> => {
  for (const form of Object.keys(outageForms)) {
    await fetch(`${legacy}/outage/${form}`, { method: "POST" });
    pass(8 * 3_600_000);
    await meet(form);
    await fetch(`${legacy}/outage`, { method: "DELETE" });
    await until(() => knowsLegacyIsWell(gateway, pass));
  }
};
