import { type LegacyAnswer, legacyError, legacyOver } from "../legacy.ts";

/** The owners of datasets. */
export type Owner = "ann" | "bob";

/** Legacy's keys. `reader` may not write; legacy does not know `stranger`. */
export const keys = {
  ann: `${"a".repeat(31)}1`,
  bob: `${"b".repeat(31)}2`,
  reader: `${"c".repeat(31)}3`,
  stranger: `${"d".repeat(31)}4`,
};

/** A dataset from one change to the next. Its number stands in the name that legacy shows: `R7`. */
export type Revision = {
  number: number;
  id: number;
  owner: Owner;
  visibility: "public" | "private" | "gone";
  /** A tag was set, or the dataset added: lists may lack that while legacy fails. */
  isSoft: boolean;
  /** The client was told that its write failed: what the gateway has may lack it while legacy fails. */
  isLost?: boolean;
  /**
   * When legacy made it, and when the client had the answer to its write, on the clock of
   * `performance.now()`; infinite: it has none.
   */
  at: number;
  answeredAt: number;
  /** The port of the gateway that passed the answer on. */
  answeredBy?: number;
};

/** The cookie of a session, which legacy knows by its user. */
export const sessionOf = (user: string): string => `ci_session=${user}`;

export type Catalogue = ReturnType<typeof openCatalogue>;

/** Paths that legacy reads, whatever the method is. */
const reads = /\/data\/(\d+|list(\/.*)?|qualities\/\d+\/\d+)$/;

/** Datasets that are there at the beginning; every fifth is private. */
const COUNT = 16;

/** Datasets that change, all they have been, and what legacy answers about them now. */
export const openCatalogue = () => {
  const revisions: Revision[] = [];
  const byId = new Map<number, Revision[]>();
  const of = (id: number): readonly Revision[] => byId.get(id) ?? [];
  const change = (
    id: number,
    to: Partial<Pick<Revision, "owner" | "visibility" | "isSoft" | "answeredAt">>,
  ): Revision => {
    const before = of(id).at(-1) ?? { owner: id % 2 === 0 ? "ann" : "bob", visibility: "public" };
    const number = revisions.length;
    const fresh = { isSoft: false, answeredAt: Number.POSITIVE_INFINITY, at: performance.now() };
    const revision: Revision = { ...before, ...fresh, ...to, number, id };
    revisions.push(revision);
    byId.set(id, [...of(id), revision]);
    return revision;
  };
  for (let id = 1; id <= COUNT; id++) change(id, { visibility: id % 5 === 0 ? "private" : "public", answeredAt: 0 });

  const shown = (id: number) => {
    const now = of(id).at(-1);
    return now === undefined || now.visibility === "gone"
      ? undefined
      : { id, name: `R${now.number}`, visibility: now.visibility };
  };
  const maySee = (user: string | undefined, id: number): boolean => {
    const now = of(id).at(-1);
    return now?.visibility === "public" || (now?.visibility === "private" && now.owner === user);
  };
  const read = legacyOver({
    keys,
    datasetOf: shown,
    maySee,
    listedFor: (user) => [...byId.keys()].flatMap((id) => (maySee(user, id) ? (shown(id) ?? []) : [])),
  });

  /** Carries out a write of a user who may; nothing where there is no such dataset. */
  const write = (method: string, path: string, form: URLSearchParams, owner: Owner): Revision | undefined => {
    const visibility = form.get("visibility") === "private" ? "private" : "public";
    if (method === "POST" && path.endsWith("/data")) return change(byId.size + 1, { owner, visibility, isSoft: true });
    const id = Number(method === "DELETE" ? path.split("/").at(-1) : form.get("data_id"));
    if (shown(id) === undefined) return undefined;
    if (method === "DELETE") return change(id, { visibility: "gone" });
    if (path.endsWith("tag")) return change(id, { isSoft: true });
    return change(id, form.has("visibility") ? { visibility } : {});
  };

  return {
    /** All that a dataset has been, oldest first. */
    of,
    ids: (): number[] => [...byId.keys()],
    revision: (number: number): Revision | undefined => revisions[number],
    change,
    /** Legacy's answer, and what the request has changed. */
    answer(
      method: string,
      target: string,
      body: string,
      cookie?: string,
    ): { answer: LegacyAnswer; made?: Revision | undefined } {
      const [path = "", given = ""] = target.split("?");
      const user = Object.entries(keys).find(([name]) => sessionOf(name) === cookie);
      // A session counts as the key of its user.
      const query = /=./.test(given) || user === undefined ? given : `api_key=${user[1]}`;
      const plain = path
        .replace(/^\/index\.php/, "")
        .replace(/^\/api_new\//, "/api/")
        .replaceAll(/\/+/g, "/")
        .replace(/\/$/, "");
      const answer = read(method, query === "" ? plain : `${plain}?${query}`, body);
      const form = new URLSearchParams(body);
      const key = new URLSearchParams(query).get("api_key") ?? form.get("api_key");
      const isRead = method === "GET" || (method === "POST" && reads.test(plain));
      if (isRead || key === null || key === keys.stranger) return { answer };
      if (key === keys.reader) return { answer: legacyError(true, 104, "This is a read-only account") };
      const made = write(method, plain, form, key === keys.ann ? "ann" : "bob");
      return made === undefined
        ? { answer: legacyError(true, 472, "Entity not found.") }
        : { answer: { status: 200, type: "application/json", body: `{"written":${made.id}}` }, made };
    },
  };
};
