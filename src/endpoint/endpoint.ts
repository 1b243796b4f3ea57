import type { DeclaredLifetimes } from "../cache/lifetimes.ts";
import type { Json, JsonObject, Rule } from "../rules/rule.ts";
import type { Fields, InputOf } from "./field.ts";
import type { LegacyRequest, Unsent } from "./legacyRequest.ts";
import type { Outcome } from "./outcome.ts";

/** Which studies are legacy ones: the deployment's knowledge, handed to every endpoint. */
export type Knowledge = { legacyStudies: ReadonlySet<number> };

/** How long answers are stored (`fresh: "10m"`), and what they are about. */
type CachePolicy<Input, Excerpt> = DeclaredLifetimes & {
  /** Names of what an answer is about; a write invalidates the answers that share one. `ours`: the excerpt, of a 200 only. */
  groups(input: Input, ours?: Excerpt): string[];
  /** Legacy shows more to a caller with a key than to one without. */
  personal?: true;
};

/** The members of these names, of a document or of each row of a list. */
type ExcerptOf<T, Name extends string> = T extends readonly (infer Row)[]
  ? Pick<Row, Name & keyof Row>[]
  : Pick<T, Name & keyof T>;

/**
 * A list whose texts legacy escapes in neither form: how its rows are found in a page that cannot be parsed, and asked for by their ids. What
 * is found is only asked for; a row counts once it has been read, and once the page is seen to hold it.
 */
export type ListedRows<Input> = {
  /** A row's beginning in either form, up to the first character of its `text`; its one group that matches is the id. Global. */
  begins: RegExp;
  /** What stands right behind that text, in either form. */
  behind: RegExp;
  /** How a page ends that is whole. */
  ends: RegExp;
  /** At most so many ids are asked for at once. */
  most: number;
  /** The same filters among these ids alone, all on one page; `undefined` where none of them can match. */
  among(input: Input, ids: readonly number[]): Input | undefined;
  /** The members of a row, ours or legacy's, that hold its id and that text. */
  id: string;
  text: string;
  /** The rows of legacy's document, in whichever form. */
  entriesIn(legacy: JsonObject): readonly Json[];
  /** The members that legacy writes, as far as they are known, and those of them that not every row has in a form. */
  members: readonly string[];
  mayLack: Readonly<Record<"json" | "xml", readonly string[]>>;
  /** Where a row is read that no list shows in a form that is parsed. */
  apart?: RowApart;
};

/** How a row is known without a list: what legacy tells of it alone, in answers that it escapes. */
export type RowApart = {
  /** Everything legacy tells of one row, and whether that is a private one; `undefined` where it tells of something else. */
  one(id: number): LegacyRequest | Unsent;
  visibilityOf(legacy: JsonObject, id: number): "private" | "public" | undefined;
  /** What else a list shows of it, and the codes of an error that says that there is none. */
  rest(id: number): LegacyRequest | Unsent;
  noRest: ReadonlySet<number>;
  /** What is known of a row, from both. */
  shown(legacy: JsonObject, rest: JsonObject | undefined): JsonObject;
  /** Rows as legacy would list them. */
  document(rows: readonly JsonObject[]): JsonObject;
};

/** `"GET /datasets/{dataset_id}"`; `{name?}` may be empty, `{...filters}` at the end takes pairs of name and value. */
export type Route = `${"GET" | "POST"} /${string}`;

/** One endpoint, written once: its input, the request to legacy, its answer `T` and its errors. */
type Definition<F extends Fields = Fields, T = unknown, Name extends string = string> = {
  summary: string;
  /** Other routes with the same meaning. */
  also?: Route[];
  /** Read from the path where the route names it, else from a POST's body or the path's pairs. */
  input: F;
  /** Objects of the body whose members count as fields of their own. */
  groups?: Record<string, string[]>;
  /** It writes, and touches these groups: a key is needed, and one that may write. */
  writes?(input: InputOf<F>): string[];
  /**
   * What a caller has to be allowed to read in order to write it, where legacy itself does not look: another endpoint's name, and what it is asked.
   * Where that grants no access, nothing is sent.
   */
  access?: { endpoint: string; input(input: InputOf<F>): Record<string, unknown> };
  /** Its answers may be kept. */
  cache?: CachePolicy<InputOf<F>, ExcerptOf<T, Name>>;
  legacy(input: InputOf<F>): LegacyRequest | Unsent;
  /** The answer where an input names what cannot exist. */
  notFound?: Outcome;
  /** Settled by the input alone, without asking. */
  rejectEarly?(input: InputOf<F>, knowledge: Knowledge): Outcome | undefined;
  /** Settled by the legacy document, instead of its transform. */
  rejectDocument?(legacy: Json, knowledge: Knowledge): Outcome | undefined;
  /** A legacy error that does not say what happened: where to look, and the legacy answer that would have been right. */
  recover?: {
    code: number;
    look(input: InputOf<F>): LegacyRequest | Unsent;
    answer(input: InputOf<F>, legacy: Json): JsonObject | undefined;
  };
  /** What a legacy error means here, where that is not what it means everywhere. */
  errors?: Record<number, Outcome>;
  /** What is known of the new implementation, where it is not as this definition has it. */
  modern?: {
    /** The route it has this endpoint under, with the same method and the same names in it as the first route. */
    route?: Route;
    /**
     * Legacy's codes by which this endpoint says that something does not exist or is there already, besides those of `absent`, `errors`
     * and `problems`: by any other endpoint's it is not believed.
     */
    codes?: readonly number[];
    /** Its problems without a legacy code (RFC 9457), by the last segment of their type. */
    problems?: Record<string, Outcome>;
  };
  /** The members of our document (of a list: of each of its rows) that `groups` and others look at: a large answer leaves its thread as bytes and these. */
  excerpt?: readonly Name[];
  /** What PHP may complain of before an XML form that is whole all the same. */
  harmlessNotices?: readonly RegExp[];
  rows?: ListedRows<InputOf<F>>;
  output: Rule<T>;
  /** Inputs that show it, by name. */
  examples: Record<string, Record<string, Json>>;
};

/** An endpoint that answers with a `T`. The gateway runs any of them; only a definition knows the type of its input. */
export type Endpoint<T = unknown> = Omit<
  Definition<Fields, T>,
  "legacy" | "rejectEarly" | "recover" | "writes" | "access" | "cache" | "rows"
> & {
  routes: Route[];
  writes?(input: Record<string, unknown>): string[];
  access?: { endpoint: string; input(input: Record<string, unknown>): Record<string, unknown> };
  cache?: CachePolicy<Record<string, unknown>, Json>;
  rows?: ListedRows<Record<string, unknown>>;
  legacy(input: Record<string, unknown>): LegacyRequest | Unsent;
  rejectEarly?(input: Record<string, unknown>, knowledge: Knowledge): Outcome | undefined;
  recover?: {
    code: number;
    look(input: Record<string, unknown>): LegacyRequest | Unsent;
    answer(input: Record<string, unknown>, legacy: Json): JsonObject | undefined;
  };
};

/** Defines an endpoint under its first route; the types of its input and its answer follow from `input` and `output`. */
export const endpoint = <F extends Fields, T, const Name extends string = never>(
  route: Route,
  definition: Definition<F, T, Name>,
): Endpoint<T> =>
  // `groups` gets its excerpt as it was read out of JSON.
  ({ ...definition, routes: [route, ...(definition.also ?? [])] }) as Endpoint<T>;
