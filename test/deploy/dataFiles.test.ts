import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, request } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listeningGateway } from "../gateway/http/support.ts";
import { httpUpstream } from "../gateway/proxy/support.ts";
import { describeWith } from "../support/needs.ts";
import { until } from "../support/waiting.ts";
import { nginxWithFiles } from "./proxyPrograms.ts";

const KEY = "a1b2c3d4";
const file = "/data/v1/download/61/iris.arff";
const older = "/data/download/61/iris.arff";
const splits = "/api_splits/get/59/Task_59_splits.arff";
const privateFile = "/data/v1/download/130/private.arff";
const content = "@relation iris\n".repeat(200);

/**
 * Legacy's data server: a session with each answer, nothing that may be kept, `private.arff` for one key alone.
 * `isKilled`: it closes connections. `status`: a page with this status is its only answer.
 */
const openLegacy = async () => {
  const state = { isKilled: false, isPrivate: false, status: 200, wait: Promise.resolve() };
  const seen: IncomingMessage[] = [];
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<unknown> => {
    seen.push(req);
    if (state.isKilled) return req.socket.destroy();
    await state.wait;
    const whole = (status: number, text: string, headers = {}) =>
      res.writeHead(status, { ...headers, "Content-Length": text.length }).end(text);
    const { pathname, searchParams } = new URL(req.url ?? "/", "http://legacy");
    res.setHeader("Set-Cookie", [`ci_session=${seen.length}`, "ci_session=deleted"]);
    res.setHeader("Cache-Control", "no-store, no-cache, must-revalidate").setHeader("Expires", "0");
    res.setHeader("Content-Type", "text/plain").setHeader("Vary", "Accept-Encoding, Cookie");
    // Legacy reads the id alone: it names the file as it was uploaded, whatever the path does.
    res.setHeader("Content-Disposition", `attachment; filename=${/(?<=\/)\d+/.exec(pathname)?.[0]}.arff`);
    if (state.status !== 200) return whole(state.status, "a page", { "Content-Type": "text/html" });
    if (pathname.startsWith("/data/v1/download/130/") || state.isPrivate) {
      if (searchParams.get("api_key") !== KEY && req.headers.cookie !== "ci_session=owner")
        return whole(403, "private");
    }
    if (pathname.endsWith("/412.arff")) return whole(412, "no splits");
    if (pathname.endsWith("/404.arff")) return whole(404, "nothing here");
    if (pathname.endsWith("/302.arff")) return whole(302, "elsewhere");
    if (pathname.endsWith("/500.arff")) return whole(500, "failed");
    if (pathname.endsWith("/page.arff")) return whole(200, "an error", { "Content-Type": "text/html; charset=UTF-8" });
    if (pathname.endsWith("/empty.arff")) return whole(200, "");
    if (pathname.endsWith("/unmeasured.arff")) {
      res.write("a part");
      return res.end();
    }
    if (pathname.endsWith("/broken.arff")) {
      res.writeHead(200, { "Content-Length": 100 }).write("a part");
      return setImmediate(() => req.socket.destroy());
    }
    if (req.headers.range === "bytes=0-3")
      return whole(206, content.slice(0, 4), { "Content-Range": `bytes 0-3/${content.length}` });
    return whole(200, content);
  };
  const url = await httpUpstream((req, res) => void answer(req, res));
  return { url, seen, state };
};

const openAll = async (fresh?: string) => {
  const legacy = await openLegacy();
  const gateway = await listeningGateway(legacy.url, { TRUSTED_PROXIES: "127.0.0.1" });
  const { url, store, errorLog } = await nginxWithFiles(`127.0.0.1:${gateway.port}`, fresh);
  const get = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, { redirect: "manual", ...init });
    const text = await response.text().catch(() => "broken");
    return { status: response.status, headers: response.headers, text, store: response.headers.get("X-Store") };
  };
  /** All that lies on the disk, with the keys of the entries. */
  const stored = (): string =>
    readdirSync(store, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
      .join("\n");
  return { legacy, gateway, url, store, errorLog, get, stored };
};

/** A GET such as `fetch` cannot send: for another host, with a body, or with a path as it is. */
const sendTo = (url: string, path: string, headers: OutgoingHttpHeaders = {}, body = ""): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { path, headers, agent: false });
    sent.on("response", (response) => response.resume().on("end", resolve)).on("error", reject);
    sent.end(body);
  });

/** The command in docs/migrate.md that deletes one file, for this folder. */
const deletingCommand = (store: string): string => {
  const command = /^ *(grep -r.*catalog-gateway-files.*)$/m.exec(readFileSync("docs/migrate.md", "utf8"))?.[1];
  return (command ?? "false").replaceAll("/var/cache/catalog-gateway-files", store);
};

describeWith("nginx", "deploy/nginx/files.conf", () => {
  test("stored files are served after legacy was killed, without a session", async () => {
    const { legacy, get } = await openAll();
    for (const path of [file, older, splits]) {
      const first = await get(path);
      expect([path, first.status, first.text, first.store]).toEqual([path, 200, content, "MISS"]);
      expect(first.headers.getSetCookie()).toEqual([]);
    }
    legacy.state.isKilled = true;
    for (const path of [file, older, splits]) {
      const again = await get(path, { headers: { "Accept-Encoding": "identity", "User-Agent": "another" } });
      expect([path, again.status, again.text, again.store]).toEqual([path, 200, content, "HIT"]);
      expect(again.headers.getSetCookie()).toEqual([]);
      expect(again.headers.get("X-Request-Id")).toBeNull();
    }
    expect((await get("/data/v1/download/62/other.arff")).status).toBe(502);
  });

  test("a stale file is served while legacy fails, and fetched again afterwards", async () => {
    const { legacy, get } = await openAll("1s");
    await get(file);
    legacy.state.isKilled = true;
    await until(async () => (await get(file)).store === "STALE");
    expect((await get(file)).text).toBe(content);
    legacy.state.isKilled = false;
    await until(async () => (await get(file)).store !== "STALE");
    expect((await get(file)).text).toBe(content);
  });

  test("a stale copy of a private file is refused, to simultaneous requests too", async () => {
    const { legacy, get } = await openAll("1s");
    await get(file);
    legacy.state.isPrivate = true;
    await until(async () => (await get(file)).status === 403);
    let release = (): void => {};
    legacy.state.wait = new Promise((resolve) => (release = resolve));
    const before = legacy.seen.length;
    const both = [get(file), get(file)];
    await until(() => legacy.seen.length === before + 2);
    release();
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([403, 403]);
  });

  test("the documented command deletes all copies of one file, and no other", async () => {
    const { legacy, get, store } = await openAll();
    for (const path of [file, older, "/data/v1/download/611/other.arff"]) await get(path);
    execFileSync("sh", ["-c", deletingCommand(store)]);
    legacy.state.isPrivate = true;
    expect((await get(file)).status).toBe(403);
    expect((await get(older)).status).toBe(403);
    expect((await get("/data/v1/download/611/other.arff")).store).toBe("HIT");
  });

  test("a private file is never stored, nor served to others", async () => {
    const { legacy, get, stored } = await openAll();
    expect((await get(privateFile)).status).toBe(403);
    expect((await get(`${privateFile}?api_key=${KEY}`)).text).toBe(content);
    expect((await get(privateFile, { headers: { Cookie: "ci_session=owner" } })).text).toBe(content);
    expect((await get(privateFile)).status).toBe(403);
    legacy.state.isKilled = true;
    expect((await get(privateFile)).status).toBe(502);
    expect((await get(`${privateFile}?api_key=${KEY}`)).status).toBe(502);
    expect(stored()).toBe("");
  });

  test.each([
    ["a cookie", file, { headers: { cookie: "ci_session=mine" } }],
    ["X-API-Key", file, { headers: { "x-api-key": "a" } }],
    ["a key", `${file}?api_key=${KEY}`, {}],
    ["more than an empty key", `${file}?api_key=&x`, {}],
    ["another method", file, { method: "POST" }],
  ])("a request with %s is neither stored nor answered from the store", async (_, path, sent) => {
    const { legacy, get, stored } = await openAll();
    const passed = await get(path, sent);
    expect([passed.status, passed.text, passed.store]).toEqual([200, content, null]);
    expect(passed.headers.getSetCookie()).toEqual(["ci_session=1", "ci_session=deleted"]);
    expect(passed.headers.get("X-Request-Id")).toBe(legacy.seen[0]?.headers["x-request-id"]);
    expect(legacy.seen[0]).toMatchObject({ method: "GET", url: path, ...sent });
    expect(stored()).toBe("");

    await get(file);
    const before = legacy.seen.length;
    expect((await get(path, sent)).store).toBeNull();
    expect(legacy.seen).toHaveLength(before + 1);
  });

  const callers: [string, string, RequestInit][] = [
    ["a cookie", "", { headers: { cookie: "ci_session=mine" } }],
    ["a key", `?api_key=${KEY}`, {}],
    ["a key and a cookie", `?api_key=${KEY}`, { headers: { cookie: "ci_session=mine" } }],
  ];
  test.each(callers)("with %s the copy is served if legacy fails, after one request", async (_, query, sent) => {
    const { legacy, get, stored, errorLog } = await openAll("1s");
    await get(file);
    const copies = stored();
    for (const status of [500, 502, 503, 504]) {
      legacy.state.status = status;
      const before = legacy.seen.length;
      // Another name of the file has the same copy.
      const shown = await get(`/data/v1/download/61/other.arff${query}`, sent);
      expect([status, shown.status, shown.text, shown.store]).toEqual([
        status,
        200,
        content,
        expect.stringMatching(/HIT|STALE/),
      ]);
      expect(legacy.seen).toHaveLength(before + 1);
      expect(shown.headers.getSetCookie()).toEqual([]);
      expect(shown.headers.get("X-Request-Id")).toBeNull();
    }
    legacy.state.isKilled = true;
    await until(async () => (await get(file + query, sent)).store === "STALE");
    expect((await get(file + query, sent)).text).toBe(content);
    expect(stored()).toBe(copies);
    expect(readFileSync(errorLog, "utf8")).not.toContain(KEY);
  });

  test.each(callers)("with %s a failure without a copy has its status and no body", async (_, query, sent) => {
    const { legacy, get, stored, errorLog } = await openAll();
    for (const status of [500, 502, 503, 504]) {
      legacy.state.status = status;
      const before = legacy.seen.length;
      const shown = await get(file + query, sent);
      expect([shown.status, shown.text, shown.headers.get("Content-Length")]).toEqual([status, "", "0"]);
      expect(legacy.seen).toHaveLength(before + 1);
    }
    legacy.state.isKilled = true;
    expect((await get(file + query, sent)).status).toBe(502);
    expect(stored()).toBe("");
    expect(readFileSync(errorLog, "utf8")).not.toContain(KEY);
  });

  test.each([200, 403, 429])("with a key a %i is sent on, though there is a copy", async (status) => {
    const { legacy, get } = await openAll();
    await get(file);
    legacy.state.status = status;
    const shown = await get(`${file}?api_key=${KEY}`);
    expect([shown.status, shown.text, shown.store]).toEqual([status, status === 200 ? content : "a page", null]);
    expect(shown.headers.getSetCookie()).toHaveLength(2);
  });

  test.each<[string, string, RequestInit]>([
    ["a range", "", { headers: { range: "bytes=0-3", cookie: "ci_session=mine" } }],
    ["another method", `?api_key=${KEY}`, { method: "POST" }],
    ["a body", `?api_key=${KEY}`, { method: "POST", body: "body" }],
    ["a path that may be read as another", `%2Fa?api_key=${KEY}`, {}],
  ])("with %s a failure is sent on, though there is a copy", async (_, more, sent) => {
    const { legacy, get } = await openAll();
    await get(file);
    legacy.state.status = 503;
    const shown = await get(file + more, sent);
    expect([shown.status, shown.text, shown.store]).toEqual([503, "a page", null]);
  });

  test("HEAD and ranges reach legacy as they are, and fill nothing", async () => {
    const { legacy, get, stored } = await openAll();
    const part = await get(file, { headers: { Range: "bytes=0-3" } });
    expect([part.status, part.text, part.headers.get("Content-Range")]).toEqual([
      206,
      content.slice(0, 4),
      `bytes 0-3/${content.length}`,
    ]);
    const head = await get(file, { method: "HEAD" });
    expect([head.status, head.headers.get("Content-Length")]).toEqual([200, String(content.length)]);
    expect(legacy.seen.map(({ method }) => method)).toEqual(["GET", "HEAD"]);
    expect(stored()).toBe("");
  });

  test.each([{ "Content-Length": 4 }, { "Transfer-Encoding": "chunked" }])(
    "a request with a body (%j) is neither stored nor answered from the store",
    async (framing) => {
      const { legacy, get, url, stored } = await openAll();
      await sendTo(url, file, framing, "body");
      expect(stored()).toBe("");
      await get(file);
      await sendTo(url, file, framing, "body");
      expect(legacy.seen).toHaveLength(3);
    },
  );

  test("only a whole file is stored", async () => {
    const { legacy, get, stored } = await openAll();
    for (const [name, status] of [
      ["412", 412],
      ["404", 404],
      ["302", 302],
      ["500", 500],
      ["page", 200],
      ["empty", 200],
      ["unmeasured", 200],
      ["broken", 200],
    ] as const)
      for (let round = 0; round < 2; round++)
        expect([name, (await get(`/data/v1/download/9/${name}.arff`)).status]).toEqual([name, status]);
    expect(legacy.seen).toHaveLength(16);
    expect(stored()).toBe("");
  });

  test("simultaneous requests reach legacy once, without headers of the first client", async () => {
    const { legacy, url, get } = await openAll();
    let release = (): void => {};
    legacy.state.wait = new Promise((resolve) => (release = resolve));
    const clients = Array.from({ length: 10 }, (_, i) =>
      get(file, { headers: { "User-Agent": `client ${i}`, "X-Echo": "mine", Referer: "http://mine.example/" } }),
    );
    await until(() => legacy.seen.length > 0);
    release();
    expect(new Set((await Promise.all(clients)).map(({ text }) => text))).toEqual(new Set([content]));
    expect(legacy.seen).toHaveLength(1);
    const sent = legacy.seen[0]?.headers;
    expect(sent).toMatchObject({ host: new URL(url).host, "user-agent": "catalog-gateway-files" });
    expect(sent).toMatchObject({ "accept-encoding": "identity" });
    expect(JSON.stringify(sent)).not.toMatch(/mine|client \d/);
  });

  test("all names of a file share a copy: made-up names, and those with an empty key", async () => {
    const { legacy, get, stored } = await openAll();
    const first = await get(file);
    const names = Array.from({ length: 20 }, (_, i) => `/made-up-${i}.arff`);
    for (const name of ["", "/", "/other_(1).arff", "?api_key=", "/iris.arff?api_key=", ...names]) {
      const { store, text, headers } = await get(`/data/v1/download/61${name}`);
      expect([name, store, text]).toEqual([name, "HIT", content]);
      for (const of of ["Content-Type", "Content-Length", "Content-Disposition"])
        expect(headers.get(of)).toBe(first.headers.get(of));
    }
    expect(legacy.seen).toHaveLength(1);
    expect(stored().match(/^KEY: /gm)).toHaveLength(1);
    for (const path of [older, "/api_splits/get/61/iris.arff", "/data/v1/download/6/iris.arff"])
      expect([path, (await get(path)).store]).toEqual([path, "MISS"]);
  });

  test("a path that may be read as another, or that legacy refuses, bypasses the store", async () => {
    const { legacy, get, url, stored } = await openAll();
    for (const rest of ["/iris%2Earff", "/a%2Fb%20c", "/..%2f..%2fapi", "/a/b", "/a..b", ";x/a", "/a+b", "/a&b;c"]) {
      expect([rest, (await get(`/data/v1/download/61${rest}`)).store]).toEqual([rest, null]);
      expect(legacy.seen.at(-1)?.url).toBe(`/data/v1/download/61${rest}`);
    }
    for (const path of ["/data/v1/download/61/../62/a", "/data/v1/download/61/..", "/data//v1/download/61/a"]) {
      await sendTo(url, path);
      expect(legacy.seen.at(-1)?.url).toBe(path);
    }
    expect(stored()).toBe("");
  });

  test("another host has entries of its own", async () => {
    const { legacy, url, get } = await openAll();
    await get(file);
    await sendTo(url, file, { Host: "elsewhere.example" });
    expect(legacy.seen.at(-1)?.headers.host).toBe("elsewhere.example");
    expect((await get(file)).store).toBe("HIT");
  });
});
