import {
  contexts,
  type Dependencies,
  type Meter,
  neverAnswered,
  type Observer,
  type Traffic,
} from "../../operation/index.ts";
import { ask } from "./ask.ts";
import { type RequestLine, UpstreamFailure } from "./failure.ts";
import { ownHeaders } from "./legacyClient.ts";
import { legacyFaults, type LegacyTrouble, openLegacyFaults } from "./legacyFaults.ts";
import { contentOf } from "./contentOf.ts";
import type { Probed } from "./legacyHealth.ts";
import { openUpstream, type UpstreamSettings } from "./upstream.ts";
import { waitingRequests } from "./upstreamRequest.ts";
import { LegacyWatch } from "./legacyWatch.ts";

/**
 * How legacy is probed. `upstream`: as requests reach it. `path`: of the probe. `host`: the Host
 * that legacy is addressed by.
 */
type LegacyOutageSettings = {
  upstream: Omit<UpstreamSettings, "connections">;
  path: string;
  host: string;
  isJudged: (target: string) => boolean;
  partOf: (request: RequestLine) => string;
};

const refusing = {
  name: "refusing",
  trouble: "Legacy, or what stands before it, refuses the gateway",
  effect: "requests that the cache cannot answer get 502",
};
const differing: LegacyTrouble = {
  name: "unsure",
  trouble: "Legacy answers the gateway's probe otherwise than requests",
  effect: "its failures are noticed later: when requests have had no answer for a while either",
  why: "requests get answers of legacy itself, and the probe does not",
};
const troubleNames = [refusing.name, differing.name, ...legacyFaults];

/** Bytes of a probe's answer. */
const PROBE_BYTES = 1024 ** 2;

type Telemetry = { dependencies: Dependencies; observer: Observer; meter: Meter; traffic: Traffic };

/** The words on a legacy that only checks keys, since features replace all that it answers. */
const KEYS_ALONE = {
  only: "keys",
  trouble: "Legacy, which only checks keys, has been failing",
  effect: "callers with a key that it has not accepted within the last hour are answered 503",
  calm: "legacy only checks keys",
  line: "legacy only checks keys: no endpoint needs it, and old clients are answered 410",
};

/** Shows the health of legacy. `troubles`: the troubles while it does not fail. */
export type LegacyOutage = LegacyWatch & {
  troubles: () => LegacyTrouble[];
  keysAlone: () => typeof KEYS_ALONE | undefined;
  close: () => Promise<void>;
};

/**
 * Opens the watch on legacy, which finds out whether it fails and tells operators of it. Its only connection
 * is used by the probe alone.
 */
export const openLegacyOutage = (
  { upstream: settings, path, host, isJudged, partOf }: LegacyOutageSettings,
  { dependencies, observer, meter, traffic }: Telemetry,
  onlyChecksKeys: () => boolean,
): LegacyOutage => {
  const keysAlone = (): typeof KEYS_ALONE | undefined => (onlyChecksKeys() ? KEYS_ALONE : undefined);
  // Behind other requests a probe would show that the gateway has no room, not that legacy fails.
  const upstream = openUpstream({ ...settings, connections: 1 });
  const failing = {
    trouble: "Legacy has been failing",
    effect: "requests that the cache cannot answer get 502, 503 or 504",
  };
  const report = dependencies.add("legacy", () => keysAlone() ?? failing);
  const faults = openLegacyFaults({ observer, traffic });
  const troubles = (): LegacyTrouble[] => {
    const health = watch.health();
    // These are said alone.
    if (health.is === "failing") return [];
    if (health.is === "refusing") {
      const reason = { why: `status ${health.status}`, details: health.details };
      return [{ ...refusing, ...keysAlone(), ...reason, since: begin }];
    }
    return [...(health.differs?.isSure === true ? [{ ...differing, since: begin }] : []), ...faults.troubles()];
  };
  meter.gauge("legacy_trouble", "1 for what is wrong with the answers of a legacy that does not fail.", () => {
    const present = new Set(troubles().map(({ name }) => name));
    return troubleNames.map((name) => ({ labels: { trouble: name }, value: present.has(name) ? 1 : 0 }));
  });

  const probe = async (scheme: "http" | "https", totalTimeout: number): Promise<Probed | undefined> => {
    const headers = ownHeaders(host, "json", scheme);
    try {
      // Outside of the request's context, which would add its id and its trace.
      const { status, judgement, body } = await contexts.run(undefined, () =>
        ask(upstream, { method: "GET", path, headers, takesCoded: true, maxBytes: PROBE_BYTES, totalTimeout }),
      );
      return { status, judgement, details: contentOf(status, body) };
    } catch (error) {
      if (error instanceof UpstreamFailure) return error;
      observer.fault(error);
      return undefined;
    }
  };
  const watch = new LegacyWatch({
    isJudged,
    probe,
    onFault: (fault, request) => faults.note(fault, partOf(request)),
    waiting: () => waitingRequests(watch),
  });
  let since = 0;
  let begin = "";
  let hasBeenBack = false;
  let outcomes = traffic.sinceNow();
  watch.onChange((health, before) => {
    const { is, differs } = health;
    if (before.is === "failing" && is !== "failing") hasBeenBack = true;
    const isNew = !hasBeenBack && health.ownAt === Number.NEGATIVE_INFINITY;
    const known = is === "failing" ? health : undefined;
    const reason = known && isNew ? neverAnswered(known, "LEGACY_URL", settings.origin) : known;
    faults.forget();
    if (is === "well" || is !== before.is) begin = new Date().toISOString();
    report(is !== "failing", reason?.why, reason?.details);
    if (is === "refusing") observer.event("legacy_refuses", { status: health.status });
    if (differs?.isSure === true && before.differs?.isSure !== true) observer.event("legacy_probe_differs", {});
    if (before.is === "failing" && is !== "failing") {
      const { errors: failed, hits: cached } = outcomes();
      observer.event("legacy_back", { failedFor: Math.round(performance.now() - since), failed, cached });
    }
    if (is !== "failing" || before.is === "failing") return;
    since = performance.now();
    outcomes = traffic.sinceNow();
    observer.event("legacy_failing", { why: reason?.why, details: reason?.details });
  });
  const close = async (): Promise<void> => {
    watch.stop();
    await upstream.close();
  };
  return Object.assign(watch, { troubles, keysAlone, close });
};
