import type { RowApart } from "./endpoint.ts";
import type { LegacyRequest, Unsent } from "./legacyRequest.ts";
import type { Json, JsonObject } from "../rules/rule.ts";

type Input = Record<string, unknown>;

/**
 * A row that legacy's list shows to its owner only. `shown`: its members as a list shows them; `undefined` where legacy does not say.
 * `uploader`: its owner's id, where it is known.
 */
export type PrivateRow = { id: number; shown?: JsonObject | undefined; uploader?: number | undefined };

/** A part of an ordered list: what comes before it, and how many rows it has at most. */
export type RowsPage = { offset: number; limit: number };

/** What the deployment knows of one kind of rows that legacy's list shows to their owners only. */
export type PrivateRowsKnowledge = RowApart & {
  /** The endpoint whose answers lack such rows, and the kind of their groups: `dataset` of `dataset/61`. */
  endpoint: string;
  kind: string;

  /** A request that runs no query, and what the codes of its answer say of its key. */
  adminProbe: { request: LegacyRequest; statuses: Readonly<Record<number, "administrator" | "other">> };

  /** Requests for a page of all rows that legacy lists to a caller, in any state; and for those of them with these ids. */
  listed(page: RowsPage): LegacyRequest | Unsent;
  listedAmong(ids: readonly number[]): LegacyRequest | Unsent;
  /** Most ids of one such request. */
  mostIds: number;
  /** The ids in a list; `undefined`: the document is no list. */
  idsIn(legacy: JsonObject): number[] | undefined;
  /** The codes of a legacy error that says that the list is empty. */
  noneListed: ReadonlySet<number>;

  /** For an input: whether legacy would list a row to its owner; `undefined`: too little is known of the row. */
  matching(input: Input): (row: PrivateRow) => boolean | undefined;
  /** The page that an input asks for; the same input for another page; the same for those of these ids that it matches (at most `mostIds`). */
  pageOf(input: Input): RowsPage;
  withPage(input: Input, page: RowsPage): Input;
  withIds(input: Input, ids: readonly number[]): Input;
  /** The id of a row of the endpoint's own answer. */
  idOf(ours: Json): number;
  /** The uploader that an input asks for: all rows that are listed then are this uploader's. */
  uploaderOf(input: Input): number | undefined;

  /** The endpoint that reads one row: its id, and whether its answer is a private one. */
  read: { endpoint: string; idOf(input: Input): number; isPrivate(ours: Json): boolean };
  /**
   * What proxied traffic says. `path`: reads one row, and captures its id. `private`, `public`, `created`: what an answer's beginning says.
   * `tags`: a path whose writes do not change who sees a row. `writtenAllTheSame`: codes of errors after which the write took effect.
   */
  passing: {
    path: RegExp;
    private: RegExp;
    public: RegExp;
    created: RegExp;
    tags: RegExp;
    writtenAllTheSame: ReadonlySet<number>;
  };
};
