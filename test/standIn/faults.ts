import { hash } from "node:crypto";
import type { DifferenceForm } from "../../libraries/compare/difference.ts";
import { facetsOf, memberOf } from "../../src/catalogue/reading/facets.ts";
import { childPointer, pointerSteps } from "../../src/catalogue/rules/pointer.ts";
import { isObject, type Json, type JsonObject, type Rule } from "../../src/catalogue/rules/rule.ts";

/** Change something inside a document. */
export const documentFaults = [
  "wrongType",
  "missingField",
  "extraField",
  "emptyForNull",
  "otherValue",
  "reorderedList",
  "lostEntry",
] as const;
type DocumentFault = (typeof documentFaults)[number];

/** Change the whole answer, which is still one. */
export const answerFaults = ["otherStatus", "problemJson"] as const;

/** Leave no document to be compared, or none in time. */
export type TransportFault = "late" | "down" | "halfBody" | "html" | "dripping" | "redirect";

/** One way in which the stand-in is wrong. */
export type Fault = {
  /** An endpoint's name, or `*` for all. */
  endpoint: string;
  fault: DocumentFault | (typeof answerFaults)[number] | TransportFault;
  /** A JSON pointer, `*` for the entries of a list. Default: a fitting place. */
  path?: string;
  /** The share of the requests, in percent. Default: all. */
  share?: number;
  /** A text that is in the path of the requests. Default: any. */
  within?: string;
  /** `late`: the wait (default: 3000). */
  ms?: number;
  /** False: only at the first of equal requests. */
  again?: boolean;
};

/** A whole number from 0 to 2^32 - 1 that depends on nothing but the text. */
export const hashOf = (text: string): number => Number.parseInt(hash("sha256", text).slice(0, 8), 16);

/**
 * The difference that a comparer should see, and whether a rule allows it; `path` as it writes it: list
 * indices as `*`, or `status`.
 */
export type Seen = { path: string; form: DifferenceForm; as: "difference" | "allowed" | "drift" };

/** One place of a document: `path` with `*` for list indices, `at` with the indices. */
type Place = { path: string; at: string; value: Json; isField: boolean };

/** Every place of a document, the outer before the inner. */
export const placesOf = (value: Json, path = "", at = "", isField = false): Place[] => [
  { path, at, value, isField },
  ...(Array.isArray(value)
    ? value.flatMap((entry, i) => placesOf(entry, `${path}/*`, childPointer(at, i)))
    : isObject(value)
      ? Object.entries(value).flatMap(([key, member]) =>
          placesOf(member, childPointer(path, key), childPointer(at, key), true),
        )
      : []),
];

/** True if a pointer leads to this place: a `*` to any entry of a list, an index to that entry. */
const isAt = (pointer: string, { path, at }: Place): boolean => {
  const [wanted, exact, general] = [pointer, at, path].map(pointerSteps) as [string[], string[], string[]];
  return (
    wanted.length === exact.length &&
    wanted.every((step, i) => step === exact[i] || (step === "*" && general[i] === "*"))
  );
};
const isAround = (outer: string, inner: string): boolean => inner === outer || inner.startsWith(`${outer}/`);

/**
 * The value that stands somewhere instead; `undefined` for no value. `seenBelow`: the comparer reports it for
 * the entries of this list.
 */
type Change = { path: string; at: string; value: Json | undefined; seenBelow?: true };

/**
 * The way a fault shows, its change of a place (`undefined` if it does not fit), and the
 * places it picks by itself.
 */
type Kind = {
  form: DifferenceForm;
  change: (place: Place, name?: string) => Change | undefined;
  picks?: (place: Place) => boolean;
};

const isContainer = (value: Json): boolean => typeof value === "object" && value !== null;
const instead = ({ path, at }: Place, value: Json | undefined): Change => ({ path, at, value });

/** Far from every id and count of the catalogue, so that no entry is taken for another. */
const FAR = 1_000_003;

const otherType = (value: Json): Json => {
  if (Array.isArray(value))
    return value.length === 1 && typeof value[0] !== "object" ? String(value[0]) : { entry: value };
  if (isObject(value)) return [value];
  if (typeof value === "string") return /^\d{1,15}$/.test(value) ? Number(value) : FAR;
  return String(value);
};

const otherValue = (value: Json): Json => {
  if (typeof value === "string") return `${value} (other)`;
  if (typeof value === "number") return Math.abs(value) < 2 ** 40 ? value + FAR : -value;
  return value !== true;
};

/**
 * True if the comparer can identify each entry, by its first field or its whole value: only then is
 * another order nothing but that.
 */
const areDistinct = (entries: readonly Json[]): boolean =>
  new Set(entries.map((entry) => JSON.stringify(isObject(entry) ? (Object.values(entry)[0] ?? entry) : entry))).size ===
  entries.length;

const kinds: Record<DocumentFault, Kind> = {
  wrongType: {
    form: "type",
    change: (place) => (place.value === null ? undefined : instead(place, otherType(place.value))),
    picks: ({ value }) => !isContainer(value),
  },
  missingField: {
    form: "missing",
    change: (place) => (place.isField ? instead(place, undefined) : undefined),
    picks: ({ value }) => !isContainer(value),
  },
  extraField: {
    form: "extra",
    change: ({ value, path, at }, name = "internal_id") =>
      isObject(value) && !Object.hasOwn(value, name)
        ? { path: childPointer(path, name), at: childPointer(at, name), value: FAR }
        : undefined,
    picks: ({ path }) => path === "" || path === "/*",
  },
  emptyForNull: {
    form: "type",
    change: (place) => (place.value === null ? instead(place, "") : undefined),
  },
  otherValue: {
    form: "value",
    change: (place) =>
      isContainer(place.value) || place.value === null ? undefined : instead(place, otherValue(place.value)),
  },
  reorderedList: {
    form: "order",
    change: (place) =>
      Array.isArray(place.value) && place.value.length > 1 && areDistinct(place.value)
        ? instead(place, place.value.toReversed())
        : undefined,
  },
  lostEntry: {
    form: "missing",
    change(place) {
      const { value } = place;
      if (!Array.isArray(value) || value.length === 0) return undefined;
      // If entries are alike, the comparer misses the last of them.
      const lost = areDistinct(value) ? value.length >> 1 : value.length - 1;
      return { ...instead(place, value.toSpliced(lost, 1)), seenBelow: true };
    },
  },
};

/** The changes at places of its own choice. */
const pickedBy = (fault: DocumentFault, places: readonly Place[]): Change[] => {
  const { picks = () => true, change } = kinds[fault];
  return places.flatMap((place) => (picks(place) ? (change(place) ?? []) : []));
};

type Output = Rule | undefined;
type Wrong = Fault & { fault: DocumentFault };

const changesOf = ({ endpoint, fault, path }: Wrong, places: readonly Place[], output: Output): Change[] => {
  if (path === undefined) {
    const fitting = pickedBy(fault, places);
    // The same place in every document that has it, and another only where it does not fit.
    const rank = (one: string) => hashOf(`${endpoint} ${fault} ${one}`) + (isFree(output, one) ? 2 ** 32 : 0);
    const [first] = [...new Set(fitting.map((change) => change.path))].toSorted((a, b) => rank(a) - rank(b));
    return fitting.filter((change) => change.path === first);
  }
  // A new field has no place yet: it is looked for by the object around it.
  const isNew = fault === "extraField";
  const parent = isNew ? path.slice(0, Math.max(0, path.lastIndexOf("/"))) : path;
  const name = isNew ? pointerSteps(path).at(-1) : undefined;
  return places.flatMap((place) => (isAt(parent, place) ? (kinds[fault].change(place, name) ?? []) : []));
};

/** True if the order of this list's entries means nothing. */
const isFree = (output: Output, path: string): boolean => {
  let facets = output && facetsOf(output);
  for (const step of pointerSteps(path)) {
    const inner = facets && memberOf(facets, step);
    facets = inner && facetsOf(inner);
  }
  return facets?.anyOrder !== undefined;
};

const changed = (document: Json, { at, value }: Change): Json => {
  const steps = pointerSteps(at);
  const last = steps.pop();
  if (last === undefined) return value ?? null;
  const parent = steps.reduce<Json>((inner, step) => (inner as JsonObject)[step] as Json, document) as JsonObject;
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return document;
};

/** An answer with its document. */
type Whole = { status: number; contentType: string; body: Json };
/** The answer with its faults, and their effects. */
type Played = { answer: Whole; done: { fault: Fault; seen: Seen }[] };

/**
 * Plays the faults that leave an answer on it. Where two of them meet, the first fault counts. An answer of 500
 * and above is wrong enough.
 */
export const faultyAnswer = (output: Rule, answer: Whole, faults: readonly Fault[]): Played => {
  if (answer.status >= 500) return { answer, done: [] };
  const isError = answer.status >= 400;
  // A fault of the whole answer comes alone.
  for (const fault of faults) {
    if (fault.fault === "otherStatus") return otherStatus(answer, fault);
    if (fault.fault === "problemJson" && isError) return problemJson(answer, fault);
  }
  const rule = isError ? undefined : output;
  const places = placesOf(answer.body);
  const changes: Change[] = [];
  const done: Played["done"] = [];
  for (const fault of faults) {
    // A fault changes an error only where its path says so.
    if (!(fault.fault in kinds) || (isError && fault.path?.startsWith("/detail") !== true)) continue;
    const wrong = fault as Wrong;
    const free = changesOf(wrong, places, rule).filter(
      ({ at }) => !changes.some((other) => isAround(other.at, at) || isAround(at, other.at)),
    );
    changes.push(...free);
    const { form } = kinds[wrong.fault];
    for (const path of new Set(free.map((change) => (change.seenBelow ? `${change.path}/*` : change.path)))) {
      const as = form === "order" && isFree(rule, path) ? "allowed" : fault.again === false ? "drift" : "difference";
      done.push({ fault, seen: { path, form, as } });
    }
  }
  return { answer: { ...answer, body: changes.reduce(changed, structuredClone(answer.body)) }, done };
};

const OTHERWISE: Record<number, number> = { 400: 422, 404: 410 };

const otherStatus = (answer: Whole, fault: Fault): Played => {
  const isError = answer.status >= 400;
  const status = isError ? (OTHERWISE[answer.status] ?? 400) : 404;
  const body = isError ? answer.body : { detail: "Not as it should be." };
  const as = fault.again === false ? "drift" : "difference";
  return { answer: { ...answer, status, body }, done: [{ fault, seen: { path: "status", form: "status", as } }] };
};

/** The form of RFC 9457 for `{"detail": …}`. */
const problemJson = (answer: Whole, fault: Fault): Played => {
  const detail = isObject(answer.body) ? (answer.body["detail"] as Json) : "";
  const said = isObject(detail) ? detail["message"] : detail;
  const text = typeof said === "string" ? said : "Wrong input.";
  const body = { type: "about:blank", title: "Error", status: answer.status, detail: text };
  const places: [path: string, form: DifferenceForm][] = [
    ["content-type", "value"],
    ["/type", "extra"],
    ["/title", "extra"],
    ["/status", "extra"],
  ];
  if (text !== detail) places.push(["/detail", "type"]);
  const as = fault.again === false ? "drift" : "difference";
  return {
    answer: { ...answer, contentType: "application/problem+json", body },
    done: places.map(([path, form]) => ({ fault, seen: { path, form, as } })),
  };
};
