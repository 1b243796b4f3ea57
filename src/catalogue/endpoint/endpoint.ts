import type { Touched } from "./groups.ts";
import type { DeclaredLifetimes } from "./lifetimes.ts";
import type { Json, JsonObject, Rule } from "../rules/rule.ts";
import type { Fields, InputOf } from "./field.ts";
import type { LegacyRequest, Unsent } from "./legacyRequest.ts";
import type { Outcome } from "./outcome.ts";

/** How long answers are stored (`fresh: "10m"`), and what they are about. */
type CachePolicy<Input, Excerpt> = DeclaredLifetimes & {
  /**
   * Names of what an answer is about; a write invalidates the answers that share one. `ours`:
   * the excerpt, of a 200 only.
   */
  groups(input: Input, ours?: Excerpt): string[];
  /** More groups of what is gone from the new interface, and which legacy still answers. */
  goneGroups?: readonly string[];
  /** Legacy shows more to a caller with a key than to one without. */
  personal?: true;
  /**
   * Until when legacy's workers may complete our document, or modern's: milliseconds since the epoch; `undefined`: it
   * is complete. Until then it is fresh for `preconditionTtl` at most.
   */
  unfinishedUntil?(ours: Json): number | undefined;
};

/** The members of these names, of a document or of each row of a list. */
type ExcerptOf<T, Name extends string> = T extends readonly (infer Row)[]
  ? Pick<Row, Name & keyof Row>[]
  : Pick<T, Name & keyof T>;

/** A list with texts of users that legacy does not escape: one could forge members, or rows. */
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

/** How to read a row that legacy does not list, from its other answers. */
export type RowById = {
  /** The request for one row, and the row's visibility; `undefined`: the answer is about another row. */
  one(id: number): LegacyRequest;
  visibilityOf(legacy: JsonObject, id: number): "private" | "public" | undefined;
  /** The request for what else a list shows of it, and the error codes that say that there is no more. */
  rest(id: number): LegacyRequest;
  noRest: ReadonlySet<number>;
  /** What a list shows of a row, from both answers. */
  shown(legacy: JsonObject, rest: JsonObject | undefined): JsonObject;
  /** Rows as legacy would list them. */
  document(rows: readonly JsonObject[]): JsonObject;
};

/** A row that legacy does not list, as far as it is known: what a list shows of it, and its owner's id. */
type UnlistedRow = { id: number; shown?: JsonObject | undefined; uploader?: number | undefined };

/** Whether legacy would list a row to its owner; `undefined`: too little is known of the row. */
export type RowTest = (row: UnlistedRow) => boolean | undefined;

/** What each field of a list's input requires of a row. */
export type RowFilters<Input = Record<string, unknown>> = {
  [Name in keyof Input]-?: (asked: NonNullable<Input[Name]>) => RowTest;
};

/** `"GET /datasets/{dataset_id}"`; `{name?}` may be empty, `{...filters}` at the end takes pairs of name and value. */
export type Route = `${"GET" | "POST"} /${string}`;

/**
 * One endpoint, written once: its input, the request to legacy, its answer `T` and its errors. `Input` and `Excerpt`:
 * what its fields and the members of its answer make.
 */
export type Definition<
  F extends Fields = Fields,
  T = unknown,
  Name extends string = string,
  Input = InputOf<F>,
  Excerpt = ExcerptOf<T, Name>,
> = {
  summary: string;
  /** Other routes with the same meaning. */
  also?: Route[];
  /** Read from the path where the route names it, else from a POST's body or the path's pairs. */
  input: F;
  /** Objects of the body whose members count as fields of their own. */
  bodyObjects?: Record<string, string[]>;
  /** For an endpoint that writes: what it touches. It needs a key that may write. */
  writes?(input: Input): Touched;
  /**
   * What a caller must be allowed to read, where the backends do not check or say it: another endpoint and its input.
   * Without that access a write is not sent, and modern's "not found" of a read is "no access".
   */
  access?: { endpoint: string; input(input: Input): Record<string, unknown> };
  cache?: CachePolicy<Input, Excerpt>;
  legacy(input: Input): LegacyRequest | Unsent;
  /**
   * The request that shows whether legacy can list what the endpoint lists; default: the same list without
   * filters, with a limit of 1.
   */
  shortestList?: LegacyRequest;
  /** Asks for legacy's XML form only: its JSON lacks what the XML has. */
  format?: "xml";
  /** The outcome where an input names what cannot exist. */
  notFound?: Outcome;
  /** The outcome that the input alone decides, without a request to legacy. */
  rejectEarly?(input: Input): Outcome | undefined;
  /** The outcome in place of our document, which is not checked against its schema yet. */
  rejectDocument?(ours: Json): Outcome | undefined;
  /** Numbers of the input that our document repeats: by the field, the names of the member, one inside the other. */
  echoes?: { readonly [Field in keyof F]?: readonly string[] };
  /**
   * For a legacy error that does not say what happened: the request that shows it, and the answer that
   * legacy should have given.
   */
  recover?: {
    code: number;
    look(input: Input): LegacyRequest | Unsent;
    /** `undefined`: the document does not show it. */
    answer?(input: Input, legacy: Json): JsonObject | undefined;
    /** The codes by which that request's own error says what happened. */
    errors?: ReadonlySet<number>;
    /** Elements of that request's XML form (`runs.run.error_message`) that legacy does not escape. */
    verbatim?: readonly string[];
    /** The outcome that the document shows (an empty one after such an error), in place of an answer. */
    outcome?(input: Input, legacy: JsonObject): Outcome | undefined;
  };
  /** The outcomes of legacy errors that mean something else here than everywhere. */
  errors?: Record<number, Outcome>;
  /** Where the new implementation differs from this definition. */
  modern?: {
    /** The route it has this endpoint under, with the same method and the same names in it as the first route. */
    route?: Route;
    /**
     * More of legacy's codes by which this endpoint may say that something does not exist or exists already, besides
     * those of `notFound`, `errors` and `problems`. Other codes of these kinds are not believed.
     */
    codes?: readonly number[];
    /** Its problems without a legacy code (RFC 9457), by the last segment of their type. */
    problems?: Record<string, Outcome>;
    /** The outcome of its 401 to a request without a key, where that does not mean that the endpoint needs one. */
    withoutKey?: Outcome;
  };
  /**
   * The members of our document (of each row of a list) that `cache.groups` and others read. Only these leave a
   * thread beside the bytes.
   */
  excerpt?: readonly Name[];
  /** PHP notices that may precede a whole XML form. */
  harmlessNotices?: readonly RegExp[];
  /** A page with such texts is believed only after its rows have been checked. */
  texts?: ListedTexts;
  /** How to read a row that legacy does not list, and what the list's input requires of it. */
  rowById?: RowById & { filters: RowFilters<Input> };
  output: Rule<T>;
  /**
   * A request of legacy's, a list of one entry, and the input that its document gives: an
   * example that any catalogue has.
   */
  first?: { legacy: LegacyRequest; input(legacy: JsonObject): Record<string, Json> | undefined };
  /** Inputs for documentation and checks, by name. `unknown`: one that no catalogue has. */
  examples: Record<string, Record<string, Json>>;
  exampleAnswer?: Json;
};

/** An endpoint that answers with a `T`. The gateway runs any of them; only a definition knows the type of its input. */
export type Endpoint<T = unknown> = Definition<Fields, T, string, Record<string, unknown>, Json> & { routes: Route[] };

/** An endpoint with its name in the catalogue. */
export type NamedEndpoint = Endpoint & { name: string };

/**
 * Defines an endpoint under its first route; the types of its input and its answer follow from `input` and `output`.
 */
export const endpoint = <F extends Fields, T, const Name extends string = never>(
  route: Route,
  definition: Definition<F, T, Name>,
): Endpoint<T> =>
  // `cache.groups` gets its excerpt as it was read out of JSON.
  ({ ...definition, routes: [route, ...(definition.also ?? [])] }) as Endpoint<T>;
