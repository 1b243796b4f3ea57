import { z } from "zod";
import type { Json } from "../rules/rule.ts";
import {
  above,
  below,
  mismatch,
  notABoolean,
  notAList,
  notAText,
  notAnInteger,
  notOneOf,
  reversed,
  tooFew,
  tooLong,
  tooMany,
  type Problem,
  unusable,
} from "./problem.ts";
import type { Result } from "./result.ts";

type FieldReading<T> = Result<{ value: T }, { problems: Problem[] }>;

/** One input of an endpoint, read from a path (`fromText`) or a JSON body (`fromJson`). */
export type Field<T> = {
  /** The allowed values, for documentation. */
  schema: z.ZodType;
  fromText(text: string): FieldReading<T>;
  fromJson(json: Json): FieldReading<T>;
  /** Reads it from a path of the legacy interface, where legacy itself checks the bounds; default: `fromText`. */
  fromLegacyText?(text: string): FieldReading<T>;
  /** False if no resource with this value can exist: then no request goes to legacy. */
  possible?(value: T): boolean;
  /**
   * For fields of an endpoint with a common limit: the characters of a value, as the client gave it, and that limit.
   */
  shared?(value: T): { length: number; most: number };
  /** The value when the client gives none; a field without a fallback is required. */
  fallback?: { value: T };
};

/** The inputs of an endpoint, by name. */
export type Fields = Record<string, Field<never> | Field<unknown>>;
/** The type of the input that these fields describe. */
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

/** An id of legacy. An id outside 1..2^31-1 is read, but cannot exist. */
export const identifier: Field<number> = {
  schema: z.int(),
  fromText: integerText,
  fromJson: integerJson,
  possible: exists,
};

/** An integer within bounds; in a path of the legacy interface it may be above `most`. */
export const integerFrom = (least: number, most: number): Field<number> => {
  const atLeast = (value: number): FieldReading<number> => (value < least ? refuse(below(least)) : accept(value));
  const within = (value: number): FieldReading<number> => (value > most ? refuse(above(most)) : atLeast(value));
  return {
    schema: z.int().min(least).max(most),
    fromText: (text) => then(integerText(text), within),
    fromJson: (json) => then(integerJson(json), within),
    fromLegacyText: (text) => then(integerText(text), atLeast),
  };
};

const textField = (schema: z.ZodType, read: (text: string) => FieldReading<string>): Field<string> => ({
  schema,
  fromText: read,
  fromJson: (json) => (typeof json === "string" ? read(json) : refuse(notAText)),
});

/** A text that matches the pattern. */
export const matching = (pattern: RegExp): Field<string> =>
  textField(z.string().regex(pattern), (text) =>
    pattern.test(text) ? accept(text) : refuse(mismatch(pattern.source)),
  );

/** The same text field. It refuses a text that matches `pattern` with this reason. */
export const explained = (field: Field<string>, pattern: RegExp, why: string): Field<string> => ({
  ...field,
  fromText: (text) => (pattern.test(text) ? refuse(unusable(why)) : field.fromText(text)),
  fromJson: (json) => (typeof json === "string" && pattern.test(json) ? refuse(unusable(why)) : field.fromJson(json)),
});

/** A text of at most `most` characters. */
export const textUpTo = (most: number): Field<string> =>
  textField(z.string().max(most), (text) => (Array.from(text).length > most ? refuse(tooLong(most)) : accept(text)));

/** One of these texts. */
export const oneOf = (values: readonly [string, ...string[]]): Field<string> => {
  const read = (value: Json): FieldReading<string> =>
    typeof value === "string" && values.includes(value) ? accept(value) : refuse(notOneOf(values));
  return { schema: z.enum(values), fromText: read, fromJson: read };
};

/** `true` or `false`, in a path as these words. */
export const flag: Field<boolean> = {
  schema: z.boolean(),
  fromText: (text) => (text === "true" || text === "false" ? accept(text === "true") : refuse(notABoolean)),
  fromJson: (json) => (typeof json === "boolean" ? accept(json) : refuse(notABoolean)),
};

/** Compares digits as numbers: first by length, then by order. So no number is too long. */
const withoutZeros = (digits: string): string => digits.replace(/^0+(?=.)/, "");

/** Characters of a range: two numbers of nineteen digits. */
const MAX_RANGE = 40;

/** A larger JSON number is not exact for every client; as text it may have more digits. */
const MAX_COUNT = 10 ** 15;

const rangePattern = /^[0-9]+(\.\.[0-9]+)?$/;

/** An exact number or `low..high`, as text without needless zeros; a JSON integer is taken for its digits. */
export const range: Field<string> = {
  schema: z.union([z.int().min(0).max(MAX_COUNT), z.string().max(MAX_RANGE).regex(rangePattern)]),
  fromText(text) {
    if (!rangePattern.test(text)) return refuse(mismatch(rangePattern.source));
    const numbers = text.split("..").map(withoutZeros);
    const [low = "", high = low] = numbers;
    if (low.length === high.length ? low > high : low.length > high.length) return refuse(reversed);
    const value = numbers.join("..");
    return value.length > MAX_RANGE ? refuse(tooLong(MAX_RANGE)) : accept(value);
  },
  fromJson(json) {
    if (typeof json === "string") return range.fromText(json);
    return then(integerJson(json), (value) => {
      if (value < 0) return refuse(below(0));
      return value > MAX_COUNT ? refuse(above(MAX_COUNT)) : range.fromText(String(value));
    });
  },
};

/** Reads a list of `least` to `most` entries. The place of a problem in an entry begins with the index of the entry. */
const readEach = <A>(
  entries: readonly A[],
  [least, most]: readonly [least: number, most: number],
  read: (entry: A) => FieldReading<number>,
  pathTo = (i: number): number[] => [i],
): FieldReading<number[]> => {
  if (entries.length < least) return refuse(tooFew(least));
  if (entries.length > most) return refuse(tooMany(most));
  const readings = entries.map(read);
  const problems = readings.flatMap((reading, i) =>
    reading.ok ? [] : reading.problems.map((problem) => ({ ...problem, at: pathTo(i) })),
  );
  return problems.length > 0
    ? refuse(...problems)
    : accept(readings.flatMap((reading) => (reading.ok ? [reading.value] : [])));
};

/**
 * One id, or a list (comma-separated in a path) of 1 to `most` ids and at most `longest` characters, which all such
 * fields of an endpoint share. Ids that cannot exist are left out.
 */
export const identifiers = (most: number, longest: number): Field<number[]> => {
  const lengthOf = (ids: readonly number[]): number => ids.join(",").length;
  const each = <A>(
    entries: A[],
    read: (entry: A) => FieldReading<number>,
    pathTo: (i: number) => number[],
  ): FieldReading<number[]> =>
    then(readEach(entries, [1, most], read, pathTo), (ids) => {
      const value = [...new Set(ids.filter(exists))];
      return lengthOf(value) > longest ? refuse(tooLong(longest)) : accept(value);
    });
  return {
    schema: z.union([z.int(), z.array(z.int()).min(1).max(most)]),
    fromText: (text) => each(text.split(","), integerText, (i) => (text.includes(",") ? [i] : [])),
    fromJson(json) {
      if (Array.isArray(json)) return each(json, integerJson, (i) => [i]);
      return typeof json === "object" ? refuse(notAList) : each([json], integerJson, () => []);
    },
    possible: (ids) => ids.length > 0,
    shared: (ids) => ({ length: lengthOf(ids), most: longest }),
  };
};

/**
 * A list of at least `least` and at most `most` ids, in the client's order, perhaps with repetitions. An id that cannot
 * exist is refused: a write must not leave it out.
 */
export const identifierList = (least: number, most: number): Field<number[]> => {
  const id = integerFrom(1, MAX_ID);
  return {
    schema: z.array(id.schema).min(least).max(most),
    fromText: (text) => readEach(text.split(","), [least, most], (entry) => id.fromText(entry)),
    fromJson: (json) =>
      Array.isArray(json) ? readEach(json, [least, most], (entry) => id.fromJson(entry)) : refuse(notAList),
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

/** The same field; its value is `undefined` if the client gives none. */
export const optionalField = <T>(field: Field<T>): Field<T | undefined> => ({
  ...field,
  possible: (value) => value === undefined || (field.possible?.(value) ?? true),
  fallback: { value: undefined },
});

/** The same field; `value` is its value if the client gives none. */
export const withDefault = <T>(field: Field<T>, value: T): Field<T> => ({ ...field, fallback: { value } });
