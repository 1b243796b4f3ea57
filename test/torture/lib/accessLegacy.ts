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

const nameOf = (id: number, { version, owner, visibility }: Row): string => `d${id}.${version}.${owner}.${visibility}`;
/** What a name says of the row that it was read from. */
export const rowOfName = (name: unknown): ({ id: number } & Row) | undefined => {
  const found = /^d(\d+)\.(\d+)\.(\w+)\.(public|private)$/.exec(String(name));
  if (!found) return undefined;
  const [, id, version, owner, visibility] = found;
  return {
    id: Number(id),
    version: Number(version),
    owner: owner as UserName,
    visibility: visibility as Row["visibility"],
  };
};

/** Legacy shows a private row to its owner and to administrators, and lists it to its owner alone. */
export const isShown = (user: UserName | undefined, row: Row): boolean =>
  row.visibility === "public" || row.owner === user || user === "admin";
export const isListed = (user: UserName | undefined, row: Row): boolean =>
  row.visibility === "public" || row.owner === user;

/** A small legacy server whose rows can be changed, by `data/edit` and from outside. */
export const openAccessLegacy = async (
  { openUpstream, random }: Pick<Context, "openUpstream" | "random">,
  count: number,
  onChange: (id: number, row: Row) => void = () => undefined,
) => {
  const rows = new Map<number, Row>(
    Array.from({ length: count }, (_, index) => [
      index + 1,
      { owner: "bob", visibility: index % 2 === 0 ? "public" : "private", version: 0 },
    ]),
  );
  const edit = (form: URLSearchParams) => {
    const id = Number(form.get("data_id"));
    const row = rows.get(id);
    if (row === undefined) return false;
    const [visibility, owner] = [form.get("visibility"), form.get("owner")];
    const next: Row = { ...row, version: row.version + 1 };
    if (visibility === "public" || visibility === "private") next.visibility = visibility;
    if (owner !== null) next.owner = owner as UserName;
    rows.set(id, next);
    onChange(id, next);
    return true;
  };
  const { url } = await openUpstream((request, response, body) => {
    const target = new URL(request.url, "http://legacy");
    const form = new URLSearchParams(body.toString("latin1"));
    const key = target.searchParams.get("api_key") ?? form.get("api_key") ?? undefined;
    const user = (Object.keys(users) as UserName[]).find((name) => users[name] === key);
    const isXml = target.pathname.includes("/xml/");
    const send = (status: number, text: string, type = isXml ? "text/xml" : "application/json") => {
      const go = () => response.writeHead(status, { "Content-Type": type }).end(text);
      if (random.chance(0.3)) go();
      else setTimeout(go, random.integer(10));
    };
    const fail = (code: number, inXml = isXml) =>
      inXml
        ? send(
            412,
            `<oml:error xmlns:oml="x"><oml:code>${code}</oml:code><oml:message>no</oml:message></oml:error>`,
            "text/xml",
          )
        : send(412, `{"error":{"code":"${code}","message":"no"}}`);
    if (key !== undefined && user === undefined) return fail(103, true);
    if (request.method !== "GET" && user === undefined) return fail(102, true);
    const path = target.pathname.replaceAll(/\/+/g, "/");
    if (path.startsWith("/api/v1/json/evaluation/request")) return fail(user === "admin" ? 1011 : 106);
    if (request.method === "POST" && path.includes("/data/edit"))
      return edit(form) ? send(200, `{"data_edit":{"id":"${form.get("data_id")}"}}`) : fail(1063);
    const id = Number(/\/data\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
    if (!Number.isNaN(id)) return show(id, rows.get(id));
    if (path.includes("/data/list")) return list(path);
    if (path.includes("/data/qualities")) return fail(362);
    if (path.includes("evaluationmeasure"))
      return send(200, '{"evaluation_measures":{"measures":{"measure":["a","b"]}}}');
    return fail(100);

    function show(shown: number, row: Row | undefined) {
      if (row === undefined) return fail(111);
      if (!isShown(user, row)) return fail(112);
      const name = nameOf(shown, row);
      const { visibility } = row;
      const citation = `for ${visibility === "public" ? "all" : user}`;
      if (isXml)
        return send(
          200,
          `<oml:data_set_description xmlns:oml="x"><oml:id>${shown}</oml:id><oml:name>${name}</oml:name><oml:visibility>${visibility}</oml:visibility><oml:citation>${citation}</oml:citation></oml:data_set_description>`,
        );
      return send(
        200,
        JSON.stringify({
          data_set_description: {
            id: String(shown),
            name,
            version: "1",
            format: "ARFF",
            visibility,
            status: "active",
            citation,
          },
        }),
      );
    }
    function list(listPath: string) {
      const given = (name: string) => new RegExp(`/${name}/([\\d,]+)`).exec(listPath)?.[1];
      const ids = given("data_id")?.split(",").map(Number);
      const offset = Number(given("offset") ?? 0);
      const found = [...rows]
        .filter(([one, row]) => isListed(user, row) && (ids === undefined || ids.includes(one)))
        .slice(offset, offset + Number(given("limit") ?? 10_000));
      if (found.length === 0) return fail(372);
      if (isXml)
        return send(
          200,
          `<oml:data xmlns:oml="x">${found.map(([one, row]) => `<oml:dataset><oml:did>${one}</oml:did><oml:name>${nameOf(one, row)}</oml:name><oml:version>1</oml:version><oml:status>active</oml:status><oml:format>ARFF</oml:format><oml:file_id>1</oml:file_id></oml:dataset>`).join("")}</oml:data>`,
        );
      const described = found.map(([one, row]) => ({
        did: one,
        name: nameOf(one, row),
        version: 1,
        status: "active",
        format: "ARFF",
        md5_checksum: "",
        file_id: 1,
        quality: [],
      }));
      return send(200, JSON.stringify({ data: { dataset: described } }));
    }
  });
  return { url, rows };
};
