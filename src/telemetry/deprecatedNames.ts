import type { FamilyValues, Sample } from "./series.ts";

type Labels = Sample["labels"];

/** An old name, and how its values follow from the metric that has taken its place. */
type Renaming = {
  old: string;
  use: string;
  /** The labels under which a value counts; `undefined`: it does not count. */
  labels?: (labels: Labels) => Labels | undefined;
  /** It was a counter of what the histogram in its place counts. */
  isCount?: boolean;
};

/** Metrics whose old name differs only in its beginning, `gateway_`. */
const renamed = `
  requests_total sent_bytes_total backend_answers_total mirror_shed_total
  events_total cache_bytes cache_entries cache_evictions_total
  cache_events_total shared_tier_calls_total log_lines_dropped_total reader_threads
  reader_waiting reader_waiting_bytes collecting_bytes crowded_replies_total
  receiving_bytes crowded_bodies_total client_connections refused_connections_total
  unsent_bytes slow_clients_total crowded_answers_total crowded_out_total
  brownout_answers_total private_incomplete_total private_rows private_rows_hidden
  private_index_complete private_walk_checked private_walk_last private_walk_calls_total
`
  .trim()
  .split(/\s+/);

const without = (labels: Labels, dropped: string): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => name !== dropped));

const changed: Renaming[] = [
  {
    old: "cache_answers_total",
    use: "request_duration_seconds",
    isCount: true,
    labels: ({ endpoint = "", result = "" }) => ({ endpoint, kind: result === "error" ? "uncached" : result }),
  },
  {
    old: "request_seconds",
    use: "request_duration_seconds",
    labels: ({ result, ...rest }) => (result === "hit" ? undefined : without(rest, "backend")),
  },
  {
    old: "upstream_calls_total",
    use: "upstream_requests_total",
    labels: ({ backend, result }) =>
      backend === "legacy" ? { result: result === "answered" ? "answered" : "failed" } : undefined,
  },
  {
    old: "upstream_seconds",
    use: "upstream_duration_seconds",
    labels: ({ backend, ...rest }) => (backend === "legacy" ? without(rest, "endpoint") : undefined),
  },
  { old: "passed_through_total", use: "pass_through_requests_total" },
  {
    old: "compared_total",
    use: "comparisons_total",
    labels: ({ endpoint = "", result = "" }) => ({ endpoint, kind: result }),
  },
];

const renamings: Renaming[] = [...renamed.map((name) => ({ old: name, use: name })), ...changed];

/** The metrics, and behind them those of the old names, which stay for one release. */
export const withDeprecatedNames = (families: readonly FamilyValues[]): FamilyValues[] => {
  const byName = new Map(families.map((family) => [family.name, family]));
  const old = renamings.flatMap((renaming) => {
    const family = byName.get(`catalog_gateway_${renaming.use}`);
    return family === undefined ? [] : [underOldName(family, renaming)];
  });
  return [...families, ...old];
};

const underOldName = (
  { name, values, ...family }: FamilyValues,
  { old, labels = (same) => same, isCount = false }: Renaming,
): FamilyValues => {
  const sums = new Map<string, Sample>();
  for (const sample of values) {
    const suffix = (sample.metricName ?? name).slice(name.length);
    const kept = isCount && suffix !== "_count" ? undefined : labels(sample.labels);
    if (kept === undefined) continue;
    const key = JSON.stringify([suffix, kept]);
    const metricName = suffix === "" || isCount ? {} : { metricName: `gateway_${old}${suffix}` };
    sums.set(key, { labels: kept, value: (sums.get(key)?.value ?? 0) + sample.value, ...metricName });
  }
  return {
    ...family,
    ...(isCount ? { type: "counter" as const } : {}),
    name: `gateway_${old}`,
    help: `Deprecated: use ${name}. ${family.help}`,
    values: [...sums.values()],
  };
};
