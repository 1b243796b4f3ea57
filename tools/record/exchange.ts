import type { Exchange, StoredExchange } from "../../fixtures/exchange.ts";
import { parseJson } from "../../src/catalogue/index.ts";

/** Writes an exchange for a fixture. */
export const storedExchange = ({ request, response: { body: text, ...others } }: Exchange): StoredExchange => {
  const body = jsonWithoutLoss(text);
  return { request, response: { ...others, ...(body === undefined ? { text } : { body }) } };
};

const STRING = /"(?:[^"\\]|\\.)*"/g;

/**
 * The object or array in a text. `undefined` if it is neither, or if `JSON.stringify` would not give the same members
 * in the same order with the same spelling of numbers: a name that occurs twice, `1.0`, an integer beyond 2^53.
 */
const jsonWithoutLoss = (text: string): object | undefined => {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) return undefined;
  const strings = [...text.matchAll(STRING)].map(([string]) => JSON.stringify(JSON.parse(string)));
  const between = text.split(STRING).map((gap) => gap.replaceAll(/\s/g, ""));
  const compact = between.map((gap, i) => gap + (strings[i] ?? "")).join("");
  return compact === JSON.stringify(value) ? value : undefined;
};
