import { describe, expect, test } from "vitest";
import { recordingUpstream } from "../http/support.ts";
import { clock } from "../cache/support.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { endpoints } from "../../../transforms/index.ts";
import { alice, cachingOver, error, minute } from "./support.ts";

/** A whole answer of legacy's for a path, in a form. */
const documentFor = (path: string, form: string): string => {
  if (path.startsWith("xsd/")) return '<!-- Schema -->\n<xs:schema xmlns:xs="x">\n<xs:element/>\n</xs:schema>\n';
  const root = /^\w+/.exec(path)?.[0];
  return form === "json/"
    ? `{"${root}":{"id":"1"}}`
    : `<oml:${root} xmlns:oml="http://openml.org/openml">1</oml:${root}>\n`;
};

/** Legacy that answers such paths; `answer` stands in place of any other. */
const startLegacy = async () => {
  const state: { answer?: { status?: number; body: string } | undefined; isDown?: boolean } = {};
  const { url, seen } = await recordingUpstream(({ target }) => {
    if (state.isDown)
      return { status: 502, body: "<html>Bad Gateway</html>", headers: { "Content-Type": "text/html" } };
    const [, form = "", path = ""] = /^\/api\/v1\/(json\/|xml\/|)([^?]*)/.exec(target) ?? [];
    if (target.includes("/tag")) return { body: '{"data_tag":{"id":"61"}}' };
    if (path.startsWith("evaluationmeasure")) return undefined;
    const type = form === "json/" ? "application/json; charset=utf-8" : "text/xml; charset=utf-8";
    return { body: documentFor(path, form), headers: { "Content-Type": type }, ...state.answer };
  });
  return Object.assign(state, { url, seen });
};

const session = { Cookie: "ci_session=a" };

const paths: [path: string, fresh: number][] = [
  ["user/list/user_id/1", 60],
  ["user/list/user_id/1,2,16", 60],
  ["study/1/data", 1],
  ["study/99/runs", 1],
  ["data/qualities/61/2", 24 * 60],
  ["estimationprocedure/1", 24 * 60],
  ["task/inputs/59", 60],
  ["xsd/openml.data.upload", 60],
];

describe("a read without an endpoint", () => {
  test.each(paths)("%s is stored by its bytes, in both forms: fresh for %i minutes", async (path, fresh) => {
    const { pass } = clock();
    const { legacy, ask } = await cachingOver(await startLegacy());
    const targets = ["json/", ""].map((form) => `/api/v1/${form}${path}`);
    const firsts = [];
    for (const target of targets) firsts.push(await ask(target));
    for (const { how } of firsts) expect(how).toBe(`fwd=uri-miss; stored; ttl=${fresh * 60}`);
    pass((fresh - 0.5) * minute);
    for (const [i, target] of targets.entries()) {
      const { how, body, headers } = await ask(target);
      const type = firsts[i]?.headers.get("content-type");
      expect([how, body, headers.get("content-type")]).toEqual(["hit; ttl=30", firsts[i]?.body, type]);
    }
    legacy.isDown = true;
    pass(7 * 24 * 60 * minute);
    for (const [i, target] of targets.entries())
      expect(await ask(target)).toMatchObject({ status: 200, body: firsts[i]?.body });
  });

  test("a list of users is one entry, in whatever order its ids come, and how often", async () => {
    const { legacy, ask } = await cachingOver(await startLegacy());
    const users = (ids: string) => ask(`/api/v1/json/user/list/user_id/${ids}`);
    const { body, how } = await users("16,2,1");
    expect(how).toContain("stored");
    legacy.isDown = true;
    for (const ids of ["1,2,16", "2,16,1", "1,1,16,2,16"])
      expect(await users(ids)).toMatchObject({ status: 200, body, how: expect.stringMatching(/^hit/) });
    for (const ids of ["1,2", "1,2,16,3", "12,16"]) expect((await users(ids)).status).toBe(502);
    const asked = legacy.seen.find(({ target }) => target.includes("16"));
    expect(asked?.target).toBe("/api/v1/json/user/list/user_id/1,16,2");
  });

  test("a path of another spelling passes", async () => {
    const { ask } = await cachingOver(await startLegacy());
    for (const path of [
      "user/list/user_id/1,x",
      "user/list/user_id/1/limit/2",
      "user/list",
      "study/alias/data",
      "study/1/data/2",
      "data/qualities/61.0/1",
      "estimationprocedure/1.0",
      "task/inputs/a",
      "xsd/openml/data",
    ])
      for (let i = 0; i < 2; i++) expect((await ask(`/api/v1/json/${path}`)).how).toBe("passed");
  });

  test("passes where CACHE_LEGACY names endpoints", async () => {
    const { ask } = await cachingOver(await startLegacy(), { CACHE_LEGACY: "getTask,getStudy" });
    for (let i = 0; i < 2; i++) expect((await ask("/api/v1/json/task/inputs/59")).how).toBe("passed");
  });

  test("its error is stored for 60 s if it means not found or no access", async () => {
    clock();
    const { legacy, ask } = await cachingOver(await startLegacy());
    for (const [id, code] of [156, 112].entries()) {
      legacy.answer = { status: 412, body: error(code) };
      const stored = { ...legacy.answer, how: "fwd=uri-miss; stored; ttl=60" };
      expect(await ask(`/api/v1/json/task/inputs/${id + 1}`)).toMatchObject(stored);
    }
  });

  test("any other answer is passed on as it came, and not stored", async () => {
    const { legacy, ask } = await cachingOver(await startLegacy());
    const answers: [status: number, body: string][] = [
      [412, error(157)],
      [412, error(603)],
      [412, error(9999)],
      [200, error(157)],
      [200, '{"error":{"message":"No"}}'],
      [200, '{"task":{"id":"1"'],
      [200, "<oml:task><oml:id>1</oml:id>"],
      [200, "<oml:task><oml:id>1</oml:id></oml:tasks>"],
      [200, '<div style="border:1px solid #990000;padding-left:20px;margin:0 0 10px 0;"></div>{}'],
      [200, "<!-- 1 --><html></html>"],
      [200, "[]"],
      [200, ""],
      [206, '{"task":{"id":"1"}}'],
    ];
    for (const [status, body] of answers) {
      legacy.answer = { status, body };
      expect(await ask("/api/v1/json/task/inputs/59")).toMatchObject({ status, body, how: "fwd=uri-miss" });
    }
  });

  test("an error that is not stored invalidates the entry, and a failure does not", async () => {
    const { pass } = clock();
    const { legacy, ask } = await cachingOver(await startLegacy());
    const path = "/api/v1/json/study/99/data";
    await ask(path);
    pass(2 * minute);
    legacy.answer = { status: 500, body: "" };
    expect((await ask(path)).status).toBe(200);
    pass(2 * minute);
    legacy.answer = { status: 412, body: error(603) };
    expect((await ask(path)).body).toBe(error(603));
    legacy.isDown = true;
    expect((await ask(path)).status).toBe(502);
  });

  test("an accepted key, or a cookie, gets the public 200, and passes for all else", async () => {
    const { legacy, ask } = await cachingOver(await startLegacy());
    const asMine = async (path: string) => [await ask(`${path}?api_key=${alice}`), await ask(path, session)];
    await ask("/api/v1/json/task/inputs/59");
    for (const { how } of await asMine("/api/v1/json/task/inputs/59")) expect(how).toMatch(/^hit/);
    legacy.answer = { status: 412, body: error(151) };
    await ask("/api/v1/json/task/inputs/60");
    for (const { how } of await asMine("/api/v1/json/task/inputs/60")) expect(how).toBe("passed");
  });

  test.each([
    ["user/list/user_id/1", 372, true],
    ["task/inputs/59", 151, false],
  ])("while legacy fails, a key and a cookie get the error of a list alone: %s", async (path, code, isList) => {
    const { legacy, ask } = await cachingOver(await startLegacy());
    legacy.answer = { status: 412, body: error(code) };
    await ask(`/api/v1/json/${path}`);
    legacy.isDown = true;
    const answers = [await ask(`/api/v1/json/${path}?api_key=${alice}`), await ask(`/api/v1/json/${path}`, session)];
    expect(answers.map(({ body }) => body === error(code))).toEqual([isList, isList]);
  });

  test.each([
    ["data", "61", ["data/qualities/61/2", "study/99/data"]],
    ["task", "59", ["task/inputs/59", "study/99/tasks"]],
    ["run", "1", ["study/99/runs"]],
    ["study", "99", ["study/99/runs", "study/99/data"]],
  ])("a write to %s/%s invalidates it", async (kind, id, touched) => {
    const { ask } = await cachingOver(await startLegacy());
    const known = paths.map(([path]) => path).concat("study/99/data", "study/99/tasks");
    for (const path of known) await ask(`/api/v1/json/${path}`);
    const body = new URLSearchParams({ api_key: alice, [`${kind}_id`]: id, tag: "b" });
    await ask(`/api/v1/json/${kind}/tag`, {}, { method: "POST", body });
    const again = [];
    for (const path of known) if (!(await ask(`/api/v1/json/${path}`)).how.startsWith("hit")) again.push(path);
    expect(again).toEqual(expect.arrayContaining(touched));
    expect(again.filter((path) => !path.startsWith("study") && !touched.includes(path))).toEqual([]);
  });
});

test("the second tier gets their lifetimes where those of all endpoints are shorter", async () => {
  const short = { fresh: "1m", staleWhileRevalidate: "0s", staleIfError: "0s" };
  const cached = Object.entries(endpoints).filter(([, { cache }]) => cache !== undefined);
  const lifetimes = Object.fromEntries(cached.map(([name]) => [name, short]));
  let known = 0;
  const sharedTier = ({ longest }: { longest: number }) => {
    known = longest;
    throw new Error("planted");
  };
  const opening = gatewayFor(
    "http://127.0.0.1:1",
    { CACHE_LIFETIMES: JSON.stringify(lifetimes) },
    { openTier: sharedTier },
  );
  await expect(opening).rejects.toThrow("planted");
  expect(known).toBe(8 * 24 * 60 * minute);
});
