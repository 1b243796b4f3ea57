import { setImmediate as nextTurn } from "node:timers/promises";
import type { FamilyValues, Sample } from "./series.ts";

type Exposition = { contentType: string; body: string };

const PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** The number of values of a metric that take about a millisecond to write. */
const MANY = 100;

const escapeText = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");

const labelText = ([name, value]: [string, string | number]): string =>
  `${name}="${escapeText(String(value)).replaceAll('"', '\\"')}"`;

const lineOf = (name: string, { labels, value }: Sample): string => {
  const written = Object.entries(labels).map(labelText).join(",");
  return `${name}${written && `{${written}}`} ${value}`;
};

/** Writes metrics for Prometheus, or as OpenMetrics. Requests of clients may run between large metrics. */
export const writeExposition = async (
  families: readonly FamilyValues[],
  isOpenMetrics = false,
): Promise<Exposition> => {
  const lines: string[] = [];
  for (const { name, help, type, values } of families) {
    // OpenMetrics names a counter without the suffix of its values.
    const family = isOpenMetrics && type === "counter" ? name.replace(/_total$/, "") : name;
    lines.push(`# HELP ${family} ${escapeText(help)}`, `# TYPE ${family} ${type}`);
    for (const sample of values) lines.push(lineOf(sample.metricName ?? name, sample));
    if (values.length > MANY) await nextTurn();
  }
  if (isOpenMetrics) lines.push("# EOF");
  return { contentType: isOpenMetrics ? OPEN_METRICS : PROMETHEUS, body: `${lines.join("\n")}\n` };
};
