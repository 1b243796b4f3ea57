import type { Endpoint } from "../../endpoint/endpoint.ts";
import { collectChanges } from "../../rules/notes.ts";
import type { Json } from "../../rules/rule.ts";
import type { Exchange } from "./exchange.ts";
import { lastReading } from "./lastReading.ts";

const MAX_VALUE = 60;
const MAX_CHANGES = 100;

/** What each rule changed, one line each: `/creator  commaSeparated  "A, B" -> ["A","B"]`. None where legacy answered no document. */
export const formatChanges = (endpoint: Endpoint, legacy: readonly Exchange[]): string[] => {
  const reading = lastReading(endpoint, legacy);
  if (reading?.is !== "document") return [];
  const { note, changes } = collectChanges();
  endpoint.output.read(reading.document, note, reading.document);
  const lines = changes
    .slice(0, MAX_CHANGES)
    .map(
      ({ at, rule, before, after }) =>
        `${at === "" ? "/" : at}  ${rule}  ${formatJson(before)} -> ${formatJson(after)}`,
    );
  return changes.length > MAX_CHANGES ? [...lines, `… and ${changes.length - MAX_CHANGES} more`] : lines;
};

const formatJson = (value: Json | undefined): string => {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
};
