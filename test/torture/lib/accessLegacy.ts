import { answerOf } from "../../../src/catalogue/endpoint/answer.ts";
import { outcomeOf } from "../../../src/catalogue/legacy/reading.ts";
import { servingNote } from "../../../src/catalogue/rules/notes.ts";
import type { JsonObject } from "../../../src/catalogue/rules/rule.ts";
import { endpoints } from "../../../transforms/index.ts";
import { legacyErrors } from "../../../transforms/legacyErrors.ts";
import { legacyOver } from "../fuzz/legacy.ts";
import type { Context } from "./attack.ts";

/** Keys of the model's callers. */
export const users = {
  ann: "aaaa0000000000000000000000000001",
  bob: "bbbb0000000000000000000000000002",
  admin: "adad0000000000000000000000000003",
  carol: "cccc0000000000000000000000000004",
};
export type UserName = keyof typeof users;
/** One dataset as it is now; `version` grows with each change. */
export type Row = { owner: UserName; visibility: "public" | "private"; version: number };

/** What a name says of the row that it was read from. */
export const rowOfName = (name: unknown): Row | undefined => {
  const [, version, owner, visibility] = /^d\d+\.(\d+)\.(\w+)\.(public|private)$/.exec(String(name)) ?? [];
  return version === undefined ? undefined : ({ version: Number(version), owner, visibility } as Row);
};

/** Legacy shows a private row to its owner and to administrators, and lists it to its owner alone. */
export const isListed = (user: string | undefined, row: Row): boolean =>
  row.visibility === "public" || row.owner === user;
export const isShown = (user: string | undefined, row: Row): boolean => isListed(user, row) || user === "admin";

type ModernBody = { data_id?: number; tag?: string; pagination?: { limit?: number; offset?: number } };
type Answering = (method: string, target: string, body: string) => { status: number; body: string };

/** A new implementation over the same rows. Like legacy it lets every key tag every dataset. */
const modernOver =
  (legacy: Answering): Answering =>
  (method, target, body) => {
    const [path = "", query = ""] = target.split("?", 2);
    const { data_id: id, tag = "", pagination = {} } = JSON.parse(body || "{}") as ModernBody;
    const { limit = 100, offset = 0 } = pagination;
    const [name, action, asked, form = ""] =
      method === "GET"
        ? (["getDataset", "GET", path.replace("/datasets", "/data")] as const)
        : path === "/datasets/list"
          ? (["listDatasets", "GET", `/data/list/limit/${limit}/offset/${offset}`] as const)
          : (["tagDataset", "POST", "/data/tag", `data_id=${id}&tag=${tag}`] as const);
    const given = legacy(action, `/api/v1/json${asked}?${query}`, form);
    if (given.status === 200) {
      const ours = endpoints[name].output.read(
        JSON.parse(given.body) as JsonObject,
        servingNote(() => undefined),
        {},
      );
      return { status: 200, body: JSON.stringify(ours) };
    }
    const code = Number(/(?:"code": ?"?|<oml:code>)(\d+)/.exec(given.body)?.[1]);
    const message = legacyErrors.get(code)?.message ?? "";
    const answer = answerOf(outcomeOf({ is: "error", code, message }, legacyErrors));
    return { status: answer.status, body: answer.body.toString() };
  };

/** A small legacy server whose rows change by `data/edit`, and a new implementation (`modern`) over the same rows. */
export const openAccessLegacy = async (
  { openUpstream, random }: Pick<Context, "openUpstream" | "random">,
  count: number,
  onChange: (id: number, row: Row) => void,
) => {
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  const rows = new Map(
    ids.map((id): [number, Row] => [id, { owner: "bob", visibility: id % 2 === 1 ? "public" : "private", version: 0 }]),
  );
  const shown = (id: number) => {
    const { version, owner, visibility } = rows.get(id) as Row;
    return { id, name: `d${id}.${version}.${owner}.${visibility}`, visibility };
  };
  const answer = legacyOver({
    keys: users,
    datasetOf: (id) => (rows.has(id) ? shown(id) : undefined),
    maySee: (user, id) => isShown(user, rows.get(id) as Row),
    listedFor: (user) => ids.filter((id) => isListed(user, rows.get(id) as Row)).map(shown),
  });
  const { url } = await openUpstream((request, response, body) => {
    const form = new URLSearchParams(body.toString("latin1"));
    const id = Number(form.get("data_id"));
    const row = rows.get(id);
    const isEdit = request.method === "POST" && request.url.includes("data/edit") && row !== undefined;
    const {
      status,
      type,
      body: text,
    } = isEdit
      ? { status: 200, type: "application/json", body: `{"data_edit":{"id":"${id}"}}` }
      : answer(request.method, request.url, body.toString("latin1"));
    if (isEdit) {
      const field = (name: "visibility" | "owner") => form.get(name) ?? row[name];
      const next = { visibility: field("visibility"), owner: field("owner"), version: row.version + 1 } as Row;
      rows.set(id, next);
      onChange(id, next);
    }
    const go = () => response.writeHead(status, { "Content-Type": type }).end(text);
    if (random.chance(0.3)) go();
    else setTimeout(go, random.integer(10));
  });
  const modern = await openUpstream((request, response, body) => {
    const { status, body: text } = modernOver(answer)(request.method, request.url, body.toString("utf8"));
    response.writeHead(status, { "Content-Type": "application/json" }).end(text);
  });
  return { url, rows, modern: modern.url };
};
