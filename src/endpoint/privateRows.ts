import type { RowApart } from "./endpoint.ts";
import type { LegacyRequest, Unsent } from "./legacyRequest.ts";
import type { Json, JsonObject } from "../rules/rule.ts";

type Input = Record<string, unknown>;
type Question = LegacyRequest | Unsent;

/**
 * A row that legacy's list shows to its owner only. `shown`: its members as a list shows them; `undefined` where legacy does not say.
 * `uploader`: its owner's id, where it is known.
 */
export type PrivateRow = { id: number; shown?: JsonObject | undefined; uploader?: number | undefined };

/** A part of an ordered list: what comes before it, and how many rows it has at most. */
export type RowsPage = { offset: number; limit: number };

/** What the deployment knows of one kind of rows that legacy's list shows to their owners alone. */
export type PrivateRowsKnowledge = RowApart & {
  /** The endpoint whose answers lack them, and the groups of what they are: `dataset/61`. */
  endpoint: string;
  kind: string;

  /** A request that runs no query, and what the codes of its answer say of the key it is made with. */
  adminProbe: { request: LegacyRequest; statuses: Readonly<Record<number, "administrator" | "other">> };

  /** A page of all rows that a caller is listed, whatever their state; and which of these ids it is listed. */
  listed(page: RowsPage): Question;
  listedAmong(ids: readonly number[]): Question;
  /** As many ids at most as one such question takes. */
  mostIds: number;
  /** The ids in a list; `undefined` where it is none. */
  idsIn(legacy: JsonObject): number[] | undefined;
  /** The codes of a legacy error that says that there are none. */
  noneListed: ReadonlySet<number>;

  /** For an input: whether legacy would list a row where it may; `undefined` where too little is known of it. */
  matching(input: Input): (row: PrivateRow) => boolean | undefined;
  /** The page that an input asks for, the same input for another page, and for those of these ids that it matches (at most `mostIds`). */
  pageOf(input: Input): RowsPage;
  withPage(input: Input, page: RowsPage): Input;
  withIds(input: Input, ids: readonly number[]): Input;
  /** The id of a row of the endpoint's own answer. */
  idOf(ours: Json): number;
  /** The uploader that an input asks for: all rows that are listed then are theirs. */
  uploaderOf(input: Input): number | undefined;

  /** The endpoint that reads one row: its id, and whether its answer is a private one. */
  read: { endpoint: string; idOf(input: Input): number; isPrivate(ours: Json): boolean };
  /**
   * The same of what passes through: the path that reads a row, with its id, and what an answer's beginning says. `tags`: a path whose writes
   * leave who sees a row as it was. `writtenAllTheSame`: codes of errors after which it is written.
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
