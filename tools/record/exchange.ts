import { parseJson } from "../../src/catalogue/index.ts";

/** What a client requests of the new interface, below its prefix. `json` is sent as JSON, `text` as it stands. */
export type FixtureAsk = {
  method: "GET" | "POST" | "HEAD";
  path: string;
  key?: string;
  query?: string;
  json?: unknown;
  text?: string;
  type?: string;
};

/** One request to legacy below `/api/v1`, with its form's fields and files, and the response; `body` is its text. */
export type Exchange = {
  request: {
    method: "GET" | "POST";
    path: string;
    key?: string;
    form?: Record<string, string>;
    files?: Record<string, string>;
  };
  response: { status: number; type: "json" | "xml" | "html"; body: string };
};

/**
 * An exchange as a fixture file holds it: `body` is a JSON object or array, `text` any other
 * body, character by character.
 */
export type StoredExchange = {
  request: Exchange["request"];
  response: Omit<Exchange["response"], "body"> & { body?: unknown; text?: string };
};

/** A case as a fixture file `{endpoint}.json` holds it, under its name. */
export type StoredCase = {
  about: string;
  isPlain?: boolean;
  ask: FixtureAsk;
  legacy: StoredExchange[];
  answer: { status: number; body: unknown };
};

/** Reads an exchange from a fixture. A JSON body becomes compact JSON text; its spacing and escapes are lost. */
export const exchangeFrom = ({ request, response: { body, text, ...others } }: StoredExchange): Exchange => ({
  request,
  response: { ...others, body: text ?? JSON.stringify(body) },
});

/** Writes an exchange for a fixture. */
export const storedExchange = ({ request, response: { body: text, ...others } }: Exchange): StoredExchange => {
  const body = jsonWithoutLoss(text);
  return { request, response: { ...others, ...(body === undefined ? { text } : { body }) } };
};

const STRING = /"(?:[^"\\]|\\.)*"/g;

/**
 * The object or array that a text spells. `undefined` where it is neither, or where `JSON.stringify` would
 * not give the same members in the same order with numbers in the same spelling: a name that comes twice,
 * `1.0`, an integer beyond 2^53.
 */
const jsonWithoutLoss = (text: string): object | undefined => {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) return undefined;
  const strings = [...text.matchAll(STRING)].map(([string]) => JSON.stringify(JSON.parse(string)));
  const between = text.split(STRING).map((gap) => gap.replaceAll(/\s/g, ""));
  const compact = between.map((gap, i) => gap + (strings[i] ?? "")).join("");
  return compact === JSON.stringify(value) ? value : undefined;
};
