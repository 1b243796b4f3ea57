import type { Endpoint } from "../../endpoint/endpoint.ts";
import { collectChanges } from "../../rules/notes.ts";
import type { Json } from "../../rules/rule.ts";
import type { Exchange } from "./exchange.ts";
import { lastReading } from "./lastReading.ts";

const LONGEST = 60;
const MOST = 100;

/** What each rule changed, one line each: `/creator  commaSeparated  "A, B" -> ["A","B"]`. None where legacy answered no document. */
export const printedChanges = (endpoint: Endpoint, legacy: readonly Exchange[]): string[] => {
  const reading = lastReading(endpoint, legacy);
  if (reading?.is !== "document") return [];
  const { note, changes } = collectChanges();
  endpoint.output.read(reading.document, note, reading.document);
  const lines = changes
    .slice(0, MOST)
    .map(({ at, rule, before, after }) => `${at === "" ? "/" : at}  ${rule}  ${shown(before)} -> ${shown(after)}`);
  return changes.length > MOST ? [...lines, `… and ${changes.length - MOST} more`] : lines;
};

const shown = (value: Json | undefined): string => {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
};
