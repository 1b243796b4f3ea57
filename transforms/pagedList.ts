import {
  type Definition,
  endpoint,
  entriesOf,
  type Fields,
  type InputOf,
  list,
  type ListedTexts,
  member,
  type Route,
  type Rule,
  unwrapped,
} from "../src/catalogue/index.ts";
import { bodyObjects } from "./filters.ts";
import { listed } from "./lifetimes.ts";

/** Defines a list that is read by pages. `wrappers`: the two levels around legacy's rows. */
export const pagedList = <F extends Fields, Row>(
  route: Route,
  {
    wrappers: [outer, inner],
    row,
    groups,
    texts,
    isPublic = false,
    ...definition
  }: Omit<Definition<F, Row[]>, "bodyObjects" | "output" | "cache" | "texts"> & {
    wrappers: readonly [outer: string, inner: string];
    row: Rule<Row>;
    /** The groups of a page. */
    groups: (input: InputOf<F>) => string[];
    /** The texts of its rows that legacy does not escape. */
    texts?: Omit<ListedTexts, "entriesIn">;
    /** All callers see the same rows. If it is not set, owners see more, and rows may turn private. */
    isPublic?: boolean;
  },
) =>
  endpoint<F, Row[]>(route, {
    ...definition,
    bodyObjects,
    ...(texts && { texts: { ...texts, entriesIn: (legacy) => entriesOf(member(legacy, outer, inner)) } }),
    output: unwrapped(outer, unwrapped(inner, list(row))),
    cache: {
      ...listed,
      ...(isPublic ? {} : { mayTurnPrivate: true, personal: true }),
      groups,
    },
  });
