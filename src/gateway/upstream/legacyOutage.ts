import {
  contexts,
  type Dependencies,
  type FailureMeaning,
  type Meter,
  neverAnswered,
  type Observer,
} from "../../operation/index.ts";
import { ask } from "./ask.ts";
import { UpstreamFailure } from "./failure.ts";
import { ownHeaders } from "./legacyClient.ts";
import { openLegacyTroubles } from "./legacyTroubles.ts";
import { contentOf } from "./contentOf.ts";
import type { Probed } from "./legacyHealth.ts";
import { openUpstream, type UpstreamSettings } from "./upstream.ts";
import { type LegacyWatch, watchLegacy } from "./watchLegacy.ts";

/**
 * How legacy is probed. `upstream`: as requests reach it. `path`: of the probe. `host`: the Host
 * that legacy is addressed by.
 */
type LegacyOutageSettings = {
  upstream: Omit<UpstreamSettings, "connections">;
  path: string;
  host: string;
  isJudged: (target: string) => boolean;
};

/** Bytes of a probe's answer. */
const PROBE_BYTES = 1024 ** 2;

type Telemetry = {
  /** The meaning of its failure where legacy only checks keys now. */
  hooks: { keysAlone: () => FailureMeaning | undefined };
  dependencies: Pick<Dependencies, "add">;
  observer: Pick<Observer, "event" | "fault" | "counts">;
  meter: Pick<Meter, "callTimes">;
};

/**
 * Opens what says whether legacy fails, and tells operators of it. It has a connection of its own,
 * used by the probe alone.
 */
export const openLegacyOutage = (
  { upstream: settings, path, host, isJudged }: LegacyOutageSettings,
  { hooks: { keysAlone }, dependencies, observer, meter }: Telemetry,
): Omit<LegacyWatch, "close"> & { close: () => Promise<void> } => {
  // Behind other requests a probe would show that the gateway has no room, not that legacy fails.
  const upstream = openUpstream({ ...settings, connections: 1 });
  const failing = {
    trouble: "Legacy has been failing",
    effect: "what is not cached and needs it is answered 502, 503 or 504",
  };
  const refusing = {
    trouble: "Legacy, or what stands before it, has been refusing the gateway",
    effect: "what is not cached and needs it is answered 502",
  };
  const report = dependencies.add("legacy", () => keysAlone() ?? failing);
  const reportAccess = dependencies.add("legacy_access", () => keysAlone() ?? refusing);
  const reportProbe = dependencies.add("legacy_probe", {
    trouble: "Legacy has been answering the gateway's probe otherwise than requests",
    effect: "its failures are noticed later: when requests have had no answer for a while either",
  });

  const troubles = openLegacyTroubles(
    {
      calls: () => meter.callTimes("legacy"),
      badAnswers: () => badAnswersIn(observer.counts()),
      isFailing: () => outage.health().is === "failing" || outage.health().is === "refusing",
      keysAlone,
    },
    dependencies,
  );

  const probe = async (scheme: "http" | "https", totalTimeout: number): Promise<Probed | undefined> => {
    const headers = ownHeaders(host, "json", scheme);
    try {
      // Outside of the request's context, which would add its id and its trace.
      const { status, judgement, body } = await contexts.run(undefined, () =>
        ask(upstream, { method: "GET", path, headers, takesCoded: true, maxBytes: PROBE_BYTES, totalTimeout }),
      );
      return { status, judgement, details: contentOf(body) };
    } catch (error) {
      if (error instanceof UpstreamFailure) return error;
      observer.fault(error);
      return undefined;
    }
  };
  const outage = watchLegacy({ isJudged, probe });
  let since = 0;
  outage.onChange((health, before) => {
    const { is, differs } = health;
    const isNew = health.ownAt === Number.NEGATIVE_INFINITY;
    const known = is === "failing" ? health : undefined;
    const reason = known && isNew ? neverAnswered(known, "LEGACY_URL", settings.origin) : known;
    report(is !== "failing", reason?.why, reason?.details);
    reportAccess(is !== "refusing", is === "refusing" ? `status ${health.status}` : undefined);
    const isTold = differs?.isSure === true;
    reportProbe(!isTold, isTold ? "requests get legacy's own answers, and the probe does not" : undefined);
    troubles.beginAnew();
    if (is === "refusing") observer.event("legacy_refuses", { status: health.status });
    if (isTold && before.differs?.isSure !== true) observer.event("legacy_probe_differs", {});
    if (before.is === "failing" && is !== "failing")
      observer.event("legacy_back", { failedFor: Math.round(performance.now() - since) });
    if (is !== "failing" || before.is === "failing") return;
    since = performance.now();
    observer.event("legacy_failing", { why: reason?.why, details: reason?.details });
  });
  return {
    ...outage,
    failed(request, failure) {
      troubles.failed(failure);
      outage.failed(request, failure);
    },
    async close() {
      troubles.close();
      outage.close();
      await upstream.close();
    },
  };
};

/** `{ "legacy_ill getDataset": 3 }` -> `{ ill: { getDataset: 3 }, unreadable: {} }` */
const badAnswersIn = (counts: Readonly<Record<string, number>>) => {
  const bad = { ill: {} as Record<string, number>, unreadable: {} as Record<string, number> };
  for (const [kind, count] of Object.entries(counts)) {
    const [event, endpoint] = kind.split(" ");
    if (endpoint === undefined) continue;
    if (event === "legacy_ill" || event === "empty_list" || event === "legacy_part_hangs")
      bad.ill[endpoint] = (bad.ill[endpoint] ?? 0) + count;
    if (event === "legacy_unreadable" || event === "legacy_cache_unreadable")
      bad.unreadable[endpoint] = (bad.unreadable[endpoint] ?? 0) + count;
  }
  return bad;
};
