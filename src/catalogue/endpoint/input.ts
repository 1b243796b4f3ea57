import { isUtf8 } from "node:buffer";
import type { Field } from "./field.ts";
import {
  extra,
  type InputError,
  missing,
  notAnObject,
  notJson,
  type Problem,
  repeated,
  tooLongTogether,
} from "./problem.ts";
import { parseJson } from "../rules/parseJson.ts";
import { isObject, type Json, type JsonObject } from "../rules/rule.ts";
import { collectErrors, inputError } from "./answer.ts";

/**
 * The text or JSON that a client gave for a field. `loc`: its place, for errors. `allowed`: the names at its place, if
 * these are not all fields and objects of the body.
 */
export type Given = {
  name: string;
  loc: (string | number)[];
  text?: string;
  json?: Json;
  allowed?: readonly string[];
};

type AnyField = Field<unknown>;
/** An input, with `possible`: true if it can exist; or the errors for which it cannot be read. */
export type InputReading = { input: Record<string, unknown>; possible: boolean } | { errors: InputError[] };

/**
 * Reads every field of an endpoint. Errors come in the order of `given`. `more`: the number of unknown fields besides
 * those given. `objects`: the names of the body's objects (`pagination`), for errors.
 */
export const readInput = (
  fields: Record<string, AnyField>,
  given: Given[],
  where: string,
  { more = 0, objects = [] }: { more?: number; objects?: readonly string[] } = {},
): InputReading => {
  const wrong = collectErrors(where, more);
  const values = new Map<string, unknown>();
  for (const { name, loc, text, json, allowed } of given) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field !== undefined && json !== null && values.has(name)) {
      wrong.add(loc, repeated);
      continue;
    }
    if (field === undefined) {
      wrong.add(loc, extra(allowed ?? [...Object.keys(fields), ...objects]));
      continue;
    }
    // Published clients send `null` for filters that are not set.
    if (json === null) continue;
    const reading = text === undefined ? field.fromJson(json as Json) : field.fromText(text);
    values.set(name, reading.ok ? reading.value : undefined);
    if (!reading.ok) for (const problem of reading.problems) wrong.add(loc, problem);
  }
  for (const [name, field] of Object.entries(fields))
    if (!values.has(name)) {
      if (field.fallback) values.set(name, field.fallback.value);
      else wrong.add([where, name], missing);
    }
  for (const { loc, problem } of sharingErrors(fields, values, given)) wrong.add(loc, problem);
  const errors = wrong.errors();
  if (errors.length > 0) return { errors };
  const input = Object.fromEntries(Object.keys(fields).map((name) => [name, values.get(name)]));
  return { input, possible: Object.entries(fields).every(([name, field]) => field.possible?.(input[name]) ?? true) };
};

/** The fields whose characters together exceed their shared limit. */
const sharingErrors = (
  fields: Record<string, AnyField>,
  values: ReadonlyMap<string, unknown>,
  given: readonly Given[],
): { loc: Given["loc"]; problem: Problem }[] => {
  const sharing = given.flatMap(({ name, loc }) => {
    const value = values.get(name);
    const shared = value === undefined ? undefined : fields[name]?.shared?.(value);
    return shared === undefined ? [] : [{ name, loc, ...shared }];
  });
  const most = sharing[0]?.most ?? 0;
  if (sharing.reduce((sum, { length }) => sum + length, 0) <= most) return [];
  const problem = tooLongTogether(
    sharing.map(({ name }) => name),
    most,
  );
  return sharing.map(({ loc }) => ({ loc, problem }));
};

/** The fields that the parameters of a route give. */
export const givenInPath = (params: Record<string, string>): Given[] =>
  Object.entries(params).map(([name, text]) => ({ name, loc: ["path", name], text }));

/** The fields of `status/active/limit/10`, whose segments are still escaped. */
export const givenInPairs = (segments: string[]): { given: Given[] } | { errors: InputError[] } => {
  if (segments.length % 2 === 1)
    return { errors: [inputError(["path", unescaped(segments.at(-1) as string)], missing)] };
  const given: Given[] = [];
  for (let i = 0; i < segments.length; i += 2) {
    const name = unescaped(segments[i] as string);
    given.push({ name, loc: ["path", name], text: unescaped(segments[i + 1] as string) });
  }
  return { given };
};

/** `%41` -> `A`; invalid escapes stay as they are. */
export const unescaped = (segment: string): string =>
  segment.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });

/** Reads the input out of a request's JSON body. */
export const readBodyInput = (
  { input, bodyObjects = {} }: { input: Record<string, AnyField>; bodyObjects?: Record<string, string[]> },
  body: Buffer,
): InputReading => {
  if (!isUtf8(body)) return { errors: [inputError(["body"], notJson)] };
  const fields = givenInBody(utf8.decode(body), bodyObjects);
  if ("errors" in fields) return fields;
  return readInput(input, fields.given, "body", { more: fields.more, objects: Object.keys(bodyObjects) });
};

/** The decoder leaves out a byte order mark at the beginning (RFC 8259 8.1). */
const utf8 = new TextDecoder();

/** Objects with more members are not read member by member: no endpoint has so many fields. */
const MAX_MEMBERS = 1000;

/** The fields of a JSON body, then those of its objects (`pagination`). `more`: the number of its other fields. */
export const givenInBody = (
  body: string,
  bodyObjects: Record<string, string[]>,
): { given: Given[]; more: number } | { errors: InputError[] } => {
  const json = body === "" ? {} : parseJson(body);
  if (json === undefined) return { errors: [inputError(["body"], notJson)] };
  if (!isObject(json)) return { errors: [inputError(["body"], notAnObject)] };
  const given: Given[] = [];
  const nested: Given[] = [];
  let more = 0;
  /** Taking the values of too many members would take longer than parsing them. */
  const membersOf = (object: JsonObject): [string, Json][] => {
    const names = Object.keys(object);
    more += Math.max(0, names.length - MAX_MEMBERS);
    return names.slice(0, MAX_MEMBERS).map((name) => [name, object[name] as Json]);
  };
  for (const [name, value] of membersOf(json)) {
    const members = Object.hasOwn(bodyObjects, name) ? bodyObjects[name] : undefined;
    if (members === undefined) given.push({ name, loc: ["body", name], json: value });
    else if (value === null) continue;
    else if (!isObject(value)) return { errors: [inputError(["body", name], notAnObject)] };
    // A member that the object does not have is given without a name, so that it is not taken for another field.
    else
      for (const [member, inner] of membersOf(value))
        nested.push({
          name: members.includes(member) ? member : "",
          loc: ["body", name, member],
          json: inner,
          allowed: members,
        });
  }
  return { given: [...given, ...nested], more };
};
