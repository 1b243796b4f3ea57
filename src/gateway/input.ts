import type { Field } from "../endpoint/field.ts";
import { extra, missing, notAnObject, notJson } from "../endpoint/problem.ts";
import { isObject, type Json } from "../rules/rule.ts";
import { inputError, type InputError } from "../outcome/answer.ts";

/** What a client gave for one field, still as it came. */
export type Given = { name: string; loc: (string | number)[]; text?: string; json?: Json };

type AnyField = Field<unknown>;
export type InputReading = { input: Record<string, unknown>; possible: boolean } | { errors: InputError[] };

/** Reads every field of an endpoint; the errors come in the order in which the client gave the fields. */
export const readInput = (fields: Record<string, AnyField>, given: Given[], where: string): InputReading => {
  const errors: InputError[] = [];
  const values = new Map<string, unknown>();
  for (const { name, loc, text, json } of given) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined || (json !== null && values.has(name))) {
      errors.push(inputError(loc, extra));
      continue;
    }
    // Published clients send filters that are not set as `null`.
    if (json === null) continue;
    const reading = text === undefined ? field.fromJson(json as Json) : field.fromText(text);
    values.set(name, "value" in reading ? reading.value : undefined);
    if ("problems" in reading) errors.push(...reading.problems.map((problem) => inputError(loc, problem)));
  }
  for (const [name, field] of Object.entries(fields))
    if (!values.has(name)) {
      if (field.fallback) values.set(name, field.fallback.value);
      else errors.push(inputError([where, name], missing));
    }
  if (errors.length > 0) return { errors };
  const input = Object.fromEntries(Object.keys(fields).map((name) => [name, values.get(name)]));
  return { input, possible: Object.entries(fields).every(([name, field]) => field.possible?.(input[name]) ?? true) };
};

export const givenInPath = (params: Record<string, string>): Given[] =>
  Object.entries(params).map(([name, text]) => ({ name, loc: ["path", name], text }));

/** `status/active/limit/10`, each segment still escaped. */
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

/** The escapes that are none stay as they are. */
export const unescaped = (segment: string): string =>
  segment.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });

/** The fields of a JSON body, those of its groups (`pagination`) after its own. */
export const givenInBody = (
  body: string,
  groups: Record<string, string[]>,
): { given: Given[] } | { errors: InputError[] } => {
  const json = body === "" ? {} : parseJson(body);
  if (json === undefined) return { errors: [inputError(["body"], notJson)] };
  if (!isObject(json)) return { errors: [inputError(["body"], notAnObject)] };
  const given: Given[] = [];
  const grouped: Given[] = [];
  for (const [name, value] of Object.entries(json)) {
    const members = Object.hasOwn(groups, name) ? groups[name] : undefined;
    if (members === undefined) given.push({ name, loc: ["body", name], json: value });
    else if (value === null) continue;
    else if (!isObject(value)) return { errors: [inputError(["body", name], notAnObject)] };
    // A member that the group does not have is given without a name, so that it cannot be taken for another field.
    else
      for (const [member, inner] of Object.entries(value))
        grouped.push({ name: members.includes(member) ? member : "", loc: ["body", name, member], json: inner });
  }
  return { given: [...given, ...grouped] };
};

const parseJson = (body: string): Json | undefined => {
  try {
    return JSON.parse(body) as Json;
  } catch {
    return undefined;
  }
};
