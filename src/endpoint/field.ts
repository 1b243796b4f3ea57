import { z } from "zod";
import type { Json } from "../rules/rule.ts";
import {
  above,
  below,
  mismatch,
  notAList,
  notAText,
  notAnInteger,
  notOneOf,
  reversed,
  tooLong,
  tooMany,
  type Problem,
} from "./problem.ts";
import type { Result } from "./result.ts";

/** What reading a field gave: its value, or why it has none. */
type FieldReading<T> = Result<{ value: T }, { problems: Problem[] }>;

/** One input of an endpoint, read from a path (`fromText`) or a JSON body (`fromJson`). */
export type Field<T> = {
  /** What is allowed, for documentation. */
  schema: z.ZodType;
  fromText(text: string): FieldReading<T>;
  fromJson(json: Json): FieldReading<T>;
  /** False where nothing with this value can exist: then legacy is not asked. */
  possible?(value: T): boolean;
  /** The value when the client gives none; a field without one is required. */
  fallback?: { value: T };
};

/** The inputs of an endpoint, by name. */
export type Fields = Record<string, Field<never> | Field<unknown>>;
/** The values of these inputs. */
export type InputOf<F> = { [K in keyof F]: F[K] extends Field<infer T> ? T : never };

const MAX_ID = 2 ** 31 - 1;
const whole = /^[+-]?[0-9]+$/;
const accept = <T>(value: T) => ({ ok: true, value }) as const;
const refuse = (...problems: Problem[]) => ({ ok: false, problems }) as const;

const integerText = (text: string): FieldReading<number> =>
  whole.test(text) ? accept(Number(text) + 0) : refuse(notAnInteger);
const integerJson = (json: Json): FieldReading<number> =>
  Number.isInteger(json) ? accept((json as number) + 0) : refuse(notAnInteger);
const then = <A, B>(reading: FieldReading<A>, next: (value: A) => FieldReading<B>): FieldReading<B> =>
  reading.ok ? next(reading.value) : reading;
const exists = (id: number): boolean => id >= 1 && id <= MAX_ID;

/** An id of legacy's. One outside 1..2^31-1 is read, but cannot exist. */
export const identifier: Field<number> = {
  schema: z.int(),
  fromText: integerText,
  fromJson: integerJson,
  possible: exists,
};

/** An integer within bounds. */
export const integerFrom = (least: number, most: number): Field<number> => {
  const within = (value: number): FieldReading<number> =>
    value < least ? refuse(below(least)) : value > most ? refuse(above(most)) : accept(value);
  return {
    schema: z.int().min(least).max(most),
    fromText: (text) => then(integerText(text), within),
    fromJson: (json) => then(integerJson(json), within),
  };
};

const textField = (schema: z.ZodType, read: (text: string) => FieldReading<string>): Field<string> => ({
  schema,
  fromText: read,
  fromJson: (json) => (typeof json === "string" ? read(json) : refuse(notAText)),
});

/** A text that matches this pattern as a whole. */
export const matching = (pattern: RegExp): Field<string> =>
  textField(z.string().regex(pattern), (text) =>
    pattern.test(text) ? accept(text) : refuse(mismatch(pattern.source)),
  );

/** A text of at most so many characters. */
export const textUpTo = (most: number): Field<string> =>
  textField(z.string().max(most), (text) => (Array.from(text).length > most ? refuse(tooLong(most)) : accept(text)));

/** One of these texts. */
export const oneOf = (values: readonly [string, ...string[]]): Field<string> => {
  const read = (value: Json): FieldReading<string> =>
    typeof value === "string" && values.includes(value) ? accept(value) : refuse(notOneOf(values));
  return { schema: z.enum(values), fromText: read, fromJson: read };
};

/** Digits compare as numbers by length, then by order: no number is too long for that. */
const withoutZeros = (digits: string): string => digits.replace(/^0+(?=.)/, "");

/** Characters of a range: two numbers of nineteen digits. */
const MAX_RANGE = 40;

/** An exact number or `low..high`, as text without needless zeros; a JSON integer is taken for its digits. */
export const range: Field<string> = {
  schema: z.union([z.int().min(0), z.string().regex(/^[0-9]+(\.\.[0-9]+)?$/)]),
  fromText(text) {
    const bounds = /^([0-9]+)(?:\.\.([0-9]+))?$/.exec(text);
    if (!bounds) return refuse(mismatch(String.raw`^[0-9]+(\.\.[0-9]+)?$`));
    const numbers = bounds.slice(1).filter(Boolean).map(withoutZeros);
    const [low = "", high = low] = numbers;
    if (low.length === high.length ? low > high : low.length > high.length) return refuse(reversed);
    const value = numbers.join("..");
    return value.length > MAX_RANGE ? refuse(tooLong(MAX_RANGE)) : accept(value);
  },
  fromJson(json) {
    if (typeof json === "string") return range.fromText(json);
    return then(integerJson(json), (value) => (value < 0 ? refuse(below(0)) : range.fromText(String(BigInt(value)))));
  },
};

/** One id or a list (comma-separated in a path) of at most `most` ids and `longest` characters. Ids that cannot exist are left out. */
export const identifiers = (most: number, longest: number): Field<number[]> => {
  const each = <A>(
    entries: A[],
    read: (entry: A) => FieldReading<number>,
    place: (i: number) => number[],
  ): FieldReading<number[]> => {
    if (entries.length > most) return refuse(tooMany(most));
    const readings = entries.map(read);
    const problems = readings.flatMap((reading, i) =>
      reading.ok ? [] : reading.problems.map((one) => ({ ...one, at: place(i) })),
    );
    if (problems.length > 0) return refuse(...problems);
    const ids = readings.flatMap((reading) => (reading.ok && exists(reading.value) ? [reading.value] : []));
    const value = [...new Set(ids)];
    return value.join(",").length > longest ? refuse(tooLong(longest)) : accept(value);
  };
  return {
    schema: z.union([z.int(), z.array(z.int()).max(most)]),
    fromText: (text) => each(text.split(","), integerText, (i) => (text.includes(",") ? [i] : [])),
    fromJson(json) {
      if (Array.isArray(json)) return each(json, integerJson, (i) => [i]);
      return typeof json === "object" ? refuse(notAList) : each([json], integerJson, () => []);
    },
    possible: (ids) => ids.length > 0,
  };
};

/** An id, or a text that matches this pattern. Any other text is read, but cannot exist. */
export const identifierOr = (pattern: RegExp): Field<number | string> => ({
  schema: z.union([z.int(), z.string().regex(pattern)]),
  fromText: (text) => accept(whole.test(text) ? Number(text) + 0 : text),
  fromJson: (json) =>
    typeof json === "string" || Number.isInteger(json) ? accept(json as number | string) : refuse(notAnInteger),
  possible: (value) => (typeof value === "number" ? exists(value) : pattern.test(value)),
});

/** The same field, `undefined` where the client gives none. */
export const optionalField = <T>(field: Field<T>): Field<T | undefined> => ({
  ...field,
  possible: (value) => value === undefined || (field.possible?.(value) ?? true),
  fallback: { value: undefined },
});

/** The same field, with this value where the client gives none. */
export const withDefault = <T>(field: Field<T>, value: T): Field<T> => ({ ...field, fallback: { value } });
