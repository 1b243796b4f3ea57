import type { Touched } from "./groups.ts";
import type { DeclaredLifetimes } from "./lifetimes.ts";
import type { Json, JsonObject, Rule } from "../rules/rule.ts";
import type { Fields, InputOf } from "./field.ts";
import type { LegacyForm } from "./legacyForm.ts";
import type { LegacyRequest, Unsent } from "./legacyRequest.ts";
import type { Outcome } from "./outcome.ts";

/** The lifetimes of cached answers (`fresh: "10m"`), and the groups that they belong to. */
type CachePolicy<Input, T> = DeclaredLifetimes & {
  /** The groups of an answer; a write invalidates all answers that share a group with it. `ours`: of a 200 only. */
  groups(input: Input, ours?: T): string[];
  /** Further groups for resources that are gone from the new interface although legacy still answers for them. */
  goneGroups?: readonly string[];
  /** Legacy shows more to a caller with a key than to other callers. */
  personal?: true;
  /**
   * The time until which a worker of legacy or modern may still complete our document, in milliseconds since the epoch;
   * `undefined`: it is complete. Until then it is fresh for at most `preconditionTtl`.
   */
  unfinishedUntil?(ours: Json): number | undefined;
};

/** A list with texts of users that legacy does not escape: such a text could forge members, or rows. */
export type ListedTexts = {
  /** The rows of legacy's document, in either form. */
  entriesIn: (legacy: JsonObject) => readonly Json[];
  /** The members that each of legacy's rows has, in either form. */
  members: readonly string[];
  /** The first member with such a text. */
  text: string;
  /** Only the XML form is not escaped. */
  isEscapedInJson?: true;
};

/** The way to read a row that legacy does not list, from legacy's other answers. */
export type RowById = {
  /** The request for a row, and the row's visibility; `undefined`: the answer is about another row. */
  one(id: number): LegacyRequest;
  visibilityOf(legacy: JsonObject, id: number): "private" | "public" | undefined;
  /** The request for the row's other values in a list, and the error codes that mean that it has none. */
  rest(id: number): LegacyRequest;
  noRest: ReadonlySet<number>;
  /** The row as a list shows it, from both answers. */
  shown(legacy: JsonObject, rest: JsonObject | undefined): JsonObject;
  /** Rows as legacy would list them. */
  document(rows: readonly JsonObject[]): JsonObject;
};

/** A row that legacy does not list, as far as it is known: its values in a list, and its owner's id. */
type UnlistedRow = { id: number; shown?: JsonObject | undefined; uploader?: number | undefined };

/** True if legacy would list a row to its owner; `undefined`: too little is known of the row. */
export type RowTest = (row: UnlistedRow) => boolean | undefined;

/** The condition that each field of a list's input sets for a row. */
export type RowFilters<Input = Record<string, unknown>> = {
  [Name in keyof Input]-?: (asked: NonNullable<Input[Name]>) => RowTest;
};

/** `"GET /datasets/{dataset_id}"`; `{name?}` may be empty, `{...filters}` at the end takes pairs of name and value. */
export type Route = `${"GET" | "POST"} /${string}`;

/**
 * The definition of an endpoint: its input, the request to legacy, its answer `T` and its errors. `Input` follows from
 * its fields.
 */
export type Definition<F extends Fields = Fields, T = unknown, Input = InputOf<F>> = {
  summary: string;
  /** Other routes with the same meaning. */
  also?: Route[];
  /** Read from the path if the route names it, else from a POST's body or from the path's pairs. */
  input: F;
  /** Objects of the body whose members count as separate fields. */
  bodyObjects?: Record<string, string[]>;
  /** For an endpoint that writes: the groups that a write changes. It needs a key that may write. */
  writes?(input: Input): Touched;
  /**
   * The read that a caller must be authorized for, if the backends do not check it or do not say so: another endpoint
   * and its input. Without that access a write is not sent, and modern's "not found" for a read becomes "no access".
   */
  access?: { endpoint: string; input(input: Input): Record<string, unknown> };
  cache?: CachePolicy<Input, T>;
  legacy(input: Input): LegacyRequest | Unsent;
  /**
   * The request that shows if legacy can list the endpoint's rows; default: the same list without filters, with a limit
   * of 1.
   */
  shortestList?: LegacyRequest;
  /** Asks only for legacy's XML: the JSON lacks values that the XML has. */
  format?: "xml";
  /** The outcome if an input names a resource that cannot exist. */
  notFound?: Outcome;
  /** The outcome that follows from the input alone, without a request to legacy. */
  rejectEarly?(input: Input): Outcome | undefined;
  /** The outcome that replaces our document, which has not been checked against its schema yet. */
  rejectDocument?(ours: Json): Outcome | undefined;
  /** Numbers of the input that our document repeats: for each field, the path of the member. */
  echoes?: { readonly [Field in keyof F]?: readonly string[] };
  /**
   * For a legacy error that does not say what happened: the request that shows it, and the answer that legacy should
   * have given.
   */
  recover?: {
    code: number;
    look(input: Input): LegacyRequest | Unsent;
    /** The answer; `undefined`: the document does not show it. */
    answer?(input: Input, legacy: Json): JsonObject | undefined;
    /** The codes of an error of that request which say what happened. */
    errors?: ReadonlySet<number>;
    /** Elements in the XML of that request's answer (`runs.run.error_message`) that legacy does not escape. */
    verbatim?: readonly string[];
    /** The outcome that the document shows (an empty one after such an error); it replaces an answer. */
    outcome?(input: Input, legacy: JsonObject): Outcome | undefined;
  };
  /** The outcomes of legacy errors whose meaning here differs from their general meaning. */
  errors?: Record<number, Outcome>;
  /** Where the new implementation differs from this definition. */
  modern?: {
    /** The route of this endpoint at modern, with the same method and the same names in it as the first route. */
    route?: Route;
    /**
     * Further legacy codes by which this endpoint may say that something does not exist or exists already, besides
     * those of `notFound`, `errors` and `problems`. Other codes of these kinds are not trusted.
     */
    codes?: readonly number[];
    /** The outcomes of its problems without a legacy code (RFC 9457), by the last segment of their type. */
    problems?: Record<string, Outcome>;
    /** The outcome of its 401 to a request without a key, if that does not mean that the endpoint needs a key. */
    withoutKey?: Outcome;
  };
  /** PHP notices that may precede a complete XML document. */
  harmlessNotices?: readonly RegExp[];
  /** A page with such texts is trusted only after its rows have been checked. */
  texts?: ListedTexts;
  /** The way to read a row that legacy does not list, and the conditions that the list's input sets for it. */
  rowById?: RowById & { filters: RowFilters<Input> };
  output: Rule<T>;
  /** The form of legacy's documents, if our answers can be written back for old clients. */
  legacyForm?: LegacyForm;
  /**
   * A request to legacy for a list of one entry, and the input that its document gives: an example that works with any
   * catalogue.
   */
  first?: { legacy: LegacyRequest; input(legacy: JsonObject): Record<string, Json> | undefined };
  /** Inputs for documentation and checks, by name. `unknown`: an input that no catalogue has. */
  examples: Record<string, Record<string, Json>>;
  exampleAnswer?: Json;
};

/** An endpoint that answers with a `T`. The gateway runs all of them; only a definition knows the type of its input. */
export type Endpoint<T = unknown> = Definition<Fields, T, Record<string, unknown>> & { routes: Route[] };

/** An endpoint with its name in the catalogue. */
export type NamedEndpoint = Endpoint & { name: string };

/**
 * Defines an endpoint under its first route; the types of its input and its answer follow from `input` and `output`.
 */
export const endpoint = <F extends Fields, T>(route: Route, definition: Definition<F, T>): Endpoint<T> =>
  ({ ...definition, routes: [route, ...(definition.also ?? [])] }) as Endpoint<T>;
