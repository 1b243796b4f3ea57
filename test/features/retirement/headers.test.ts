import { describe, expect, test } from "vitest";
import { deprecationHeaders } from "../../../features/retirement/deprecationHeaders.ts";
import type { Deprecation } from "../../../features/retirement/settings.ts";
import { pseudonym } from "../../../src/gateway/upstream/forwarding.ts";
import { get, openProxy, rawUpstream, request, send } from "../../gateway/proxy/support.ts";
import { until } from "../../support/waiting.ts";
import { datasets, datasetsHeaders, gatewayOver, ofDeprecation, page } from "./support.ts";

const path = "/api/v1/json/data/61";

describe("the headers of a path", () => {
  const since = "2026-01-01";
  const deprecated = `<${page}>; rel="deprecation"; type="text/html"`;
  test.each<[string, Omit<Deprecation, "path">, string[]]>([
    ["since a date", { since }, ["Deprecation", "@1767225600"]],
    ["since an instant", { since: "2026-01-01T01:00:00.9+01:00" }, ["Deprecation", "@1767225600"]],
    [
      "with its end",
      { since, sunset: "2027-01-01T12:00:00Z" },
      ["Deprecation", "@1767225600", "Sunset", "Fri, 01 Jan 2027 12:00:00 GMT"],
    ],
    ["with a page", { since, link: page }, ["Deprecation", "@1767225600", "Link", deprecated]],
    [
      "with a successor",
      { since, successor: "/v1/datasets" },
      ["Deprecation", "@1767225600", "Link", '</v1/datasets>; rel="successor-version"'],
    ],
  ])("%s", (_, rest, expected) => {
    expect(deprecationHeaders({ path: "/a", ...rest })).toEqual(expected);
  });

  test("with everything, over the whole gateway", async () => {
    const { port, asked } = await gatewayOver({ DEPRECATED: [datasets] });
    const { head, body } = await send(port, get(path));
    expect(ofDeprecation(head)).toEqual(datasetsHeaders);
    expect([body, asked]).toEqual(["{}", [`GET ${path}`]]);
  });
});

/** The pass-through with and without the headers, over an upstream that writes these bytes. */
const both = async (reply: string, ...parts: string[]) => {
  const { origin } = await rawUpstream((socket) => socket.end(reply));
  const plain = await openProxy(origin);
  const gateway = await openProxy(origin, { headers: [() => deprecationHeaders(datasets)] });
  return { plain: await send(plain.port, ...parts), marked: await send(gateway.port, ...parts) };
};

describe("an answer is the same except for the added lines", () => {
  const more = datasetsHeaders.map((line) => `${line}\r\n`).join("");
  test.each<[string, string, string[]]>([
    ["with a length", "HTTP/1.1 299 Odd\r\nx-A: 1\r\nContent-Length: 2\r\nX-a: 2\r\n\r\nok", [get(path)]],
    [
      "in chunks, with trailers",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n",
      [get(path)],
    ],
    [
      "with links and cookies of legacy's",
      'HTTP/1.1 200 OK\r\nLink: </a>; rel="next"\r\nSet-Cookie: a\r\nlink: </b>\r\nSet-Cookie: b\r\nContent-Length: 0\r\n\r\n',
      [get(path)],
    ],
    [
      "an error to an upload",
      "HTTP/1.1 412 Precondition Failed\r\nContent-Length: 2\r\n\r\n{}",
      [request(`POST ${path}`, "Content-Length: 4"), "abcd"],
    ],
    ["of the gateway's own", "nothing of HTTP\r\n\r\n", [get(path)]],
    ["broken off", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", [get(path)]],
  ])("%s", async (_, reply, parts) => {
    const { plain, marked } = await both(reply, ...parts);
    expect(ofDeprecation(marked.head)).toEqual(expect.arrayContaining(datasetsHeaders));
    const without = (text: string) => text.replaceAll(/^(Date|X-Request-Id): .*\r\n/gim, "");
    expect(without(marked.text.replace(more, ""))).toBe(without(plain.text));
  });

  test("after a provisional one, which gets nothing", async () => {
    const hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    const { marked } = await both(`${hints}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`, get(path));
    expect(marked.text.startsWith(hints)).toBe(true);
    expect(marked.text.split("Deprecation:")).toHaveLength(2);
  });

  test("a Deprecation header from legacy is not repeated, nor is a link", async () => {
    const [, sunset = "", link = ""] = datasetsHeaders;
    const reply = `HTTP/1.1 200 OK\r\ndeprecation: @1\r\n${link}\r\nContent-Length: 0\r\n\r\n`;
    const { marked } = await both(reply, get(path));
    expect(ofDeprecation(marked.head)).toEqual(["deprecation: @1", link, sunset]);
  });

  test("the answer to a request loop has the headers, too", async () => {
    const { marked } = await both("HTTP/1.1 200 OK\r\n\r\n", get(path, `Via: 1.1 ${pseudonym}`));
    expect(marked.head).toMatch(/^HTTP\/1\.1 502 /);
    expect(ofDeprecation(marked.head)).toEqual(datasetsHeaders);
  });
});

describe("over the whole gateway", () => {
  test("a path below a deprecated one has them, however it is spelled", async () => {
    const { port } = await gatewayOver({ DEPRECATED: [datasets] });
    const targets: [target: string, isTold: boolean][] = [
      ["/api/v1/json/data/list?x=1", true],
      ["//api/v1//json/data/61", true],
      ["http://front.example/api/v1/json/data/61", true],
      ["/api/v1/json/database", false],
      ["/api/v1/json/study/1", false],
      ["/?/api/v1/json/data", true],
      ["/index.php?/api/v1/json/data/61", true],
      ["/index.php/api/v1/json/data/61", true],
      ["/api_new/v1/json/data/61", true],
      ["/api/v1/json/Data/61", false],
      ["/api/v1/json/d%61ta/61", false],
      ["/x?/api/v1/json/data", false],
      ["/v1/evaluationmeasures/list", false],
      ["/v1/datasets/abc", false],
      ["/v1/nothing", false],
    ];
    for (const [target, isTold] of targets)
      expect([target, ofDeprecation((await send(port, get(target))).head)]).toEqual([
        target,
        isTold ? datasetsHeaders : [],
      ]);
  });

  test("the longest path counts, by whole segments", async () => {
    const paths = ["/api/v1", "/api/v1/json/data", "/api/v1/json/data/list", "/api_new/v1/json/data", "/a"];
    const DEPRECATED = paths.map((prefix, i) => ({ path: prefix, since: `1970-01-0${i + 2}` }));
    const { port } = await gatewayOver({ DEPRECATED });
    const targets: [target: string, day: number | undefined][] = [
      ["/api/v1", 1],
      ["/api/v1/", 1],
      ["/api/v1/json/dat", 1],
      ["/api/v1/json/data", 2],
      ["/api/v1/json/database", 1],
      ["/api/v1/json/data/list/tag/x", 3],
      ["/api_new/v1/json/data/lists", 4],
      ["/api/v10", undefined],
      ["/api", undefined],
      ["//a//b", 5],
      ["/A", undefined],
    ];
    for (const [target, day] of targets)
      expect([target, ofDeprecation((await send(port, get(target))).head)]).toEqual([
        target,
        day === undefined ? [] : [`Deprecation: @${day * 86_400}`],
      ]);
  });

  test("below a deprecated path, only proxied answers have the headers", async () => {
    const { port } = await gatewayOver({ DEPRECATED: [{ ...datasets, path: "/" }], PREFIXES: "/,/v1" });
    for (const [target, count] of [
      ["/v1/datasets/abc", 0],
      ["/datasets/abc", 0],
      ["/something", 3],
    ] as const)
      expect([target, ofDeprecation((await send(port, get(target))).head).length]).toEqual([target, count]);
  });

  test("an answer that is held", async () => {
    const { port } = await gatewayOver({ DEPRECATED: [datasets] }, { Link: "</own>" });
    const form = "data_id=61&tag=a";
    const { head } = await send(port, request("POST /api/v1/json/data/tag", `Content-Length: ${form.length}`), form);
    expect(ofDeprecation(head)).toEqual(["Link: </own>", ...datasetsHeaders]);
  });

  test("other settings are in force at once", async () => {
    const { port, clients, reconfigure } = await gatewayOver({ DEPRECATED: [datasets] });
    await reconfigure({});
    expect(ofDeprecation((await send(port, get(path))).head)).toEqual([]);
    await reconfigure({ DEPRECATED: [{ path: "/api", since: "2026-01-02" }] });
    expect(ofDeprecation((await send(port, get(path))).head)).toEqual(["Deprecation: @1767312000"]);
    await until(() => clients().length === 2);
    expect(clients().map((client) => [client.path, client.count])).toEqual([
      ["/api", 1],
      ["/api/v1/json/data/{id}", 1],
    ]);
  });
});
