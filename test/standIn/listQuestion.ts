import type { JsonObject } from "../../src/rules/rule.ts";
import { sampleCatalogue } from "../../src/tools/sampleLegacy/catalogue.ts";
import type { Chance } from "./chance.ts";

/** What is asked of the new interface, below its prefix. */
export type TrafficQuestion = { method: "GET" | "POST"; path: string; body?: JsonObject };

type Filters = Record<string, string | number | number[]>;

const tags = [...new Set(sampleCatalogue.datasets.flatMap(({ tags: rows }) => rows.map(([tag]) => tag)))];
const names = sampleCatalogue.datasets
  .map(({ name }) => name)
  .filter((name) => /^[A-Za-z0-9 _.,()-]{1,128}$/.test(name));
const ids = sampleCatalogue.datasets.map(({ id }) => id);

/** `low..high` around what many datasets have. */
const rangeUpTo = (most: number, { below }: Chance): string => {
  const low = below(Math.ceil(most / 50));
  return `${low}..${low + Math.ceil(most / 4) + below(most)}`;
};

type Filter = [name: string, value: (chance: Chance) => Filters[string]];

const narrowing: Filter[] = [
  ["tag", ({ of }) => of(tags)],
  ["data_name", ({ of }) => of(names)],
  ["data_version", ({ of }) => of([1, 1, 1, 2, 3])],
  ["uploader", ({ of }) => of([1, 1, 2, 16, 99])],
  ["data_id", ({ of, below }) => Array.from({ length: 1 + below(8) }, () => of(ids))],
  ["number_instances", (chance) => rangeUpTo(20_000, chance)],
  ["number_instances", (chance) => rangeUpTo(2000, chance)],
  ["number_features", (chance) => rangeUpTo(100, chance)],
  ["number_classes", (chance) => rangeUpTo(10, chance)],
  ["number_missing_values", (chance) => rangeUpTo(100, chance)],
];

const filtersOf = (chance: Chance): Filters => {
  const { percent, of, below } = chance;
  const chosen = Array.from({ length: of([0, 1, 1, 1, 2]) }, () => of(narrowing));
  return {
    ...(percent(30) ? { status: of(["active", "active", "all", "all", "deactivated", "in_preparation"]) } : {}),
    ...Object.fromEntries(chosen.map(([name, value]) => [name, value(chance)])),
    ...(percent(80) ? { limit: of([5, 10, 20, 50, 100, 1 + below(40)]) } : {}),
    ...(percent(20) ? { offset: of([5, 10, below(12)]) } : {}),
  };
};

/** Inputs that are refused. */
const invalid: Filters[] = [
  { status: "deleted" },
  { limit: 0 },
  { limit: "many" },
  { offset: -1 },
  { number_instances: "200..100" },
  { number_classes: "few" },
  { tag: "no tag" },
  { colour: "red" },
  { data_id: "61,x", limit: 10 },
];

/** A page of the list of datasets, as a path or as a body. */
export const listQuestion = (chance: Chance): TrafficQuestion => {
  if (chance.percent(3)) return asked(chance.of(invalid), chance);
  if (chance.percent(1)) return { method: "GET", path: "/datasets/list" };
  return asked(filtersOf(chance), chance);
};

const asked = (given: Filters, { percent }: Chance): TrafficQuestion => {
  if (percent(40)) return { method: "POST", path: "/datasets/list", body: inBody(given) };
  const segments = Object.entries(given).map(([name, value]) => `/${name}/${encodeURIComponent(String(value))}`);
  return { method: "GET", path: `/data/list${segments.join("")}` };
};

/** Limit and offset stand in a group of their own. */
const inBody = ({ limit, offset, ...given }: Filters): JsonObject => {
  const pagination = { ...(limit === undefined ? {} : { limit }), ...(offset === undefined ? {} : { offset }) };
  return { ...given, ...(Object.keys(pagination).length === 0 ? {} : { pagination }) };
};
