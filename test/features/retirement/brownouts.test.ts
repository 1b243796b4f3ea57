import { XMLParser } from "fast-xml-parser";
import { describe, expect, test } from "vitest";
import { exchange, openConnection } from "../../gateway/answer/support.ts";
import { get, request, send } from "../../gateway/proxy/support.ts";
import { datasets, datasetsHeaders, gatewayOver, linesOf, ofDeprecation, page, stoppedAt, window } from "./support.ts";
import { until } from "../../support/waiting.ts";
import { pageOfMetrics } from "../../support/metrics.ts";

const during = "2026-11-21T12:59:29.500Z";
const path = "/api/v1/json/data/61";

test("503 with the seconds that are left, in legacy's JSON, without asking legacy", async () => {
  stoppedAt(during);
  const { port, asked } = await gatewayOver({ BROWNOUTS: [window], DEPRECATED: [datasets] });
  const { status, headers, body, head } = await exchange(port, get(`${path}?api_key=hush`));
  expect([status, headers.get("retry-after"), headers.get("cache-control"), headers.get("content-type")]).toEqual([
    503,
    "31",
    "no-store",
    "application/json; charset=utf-8",
  ]);
  expect(ofDeprecation(head)).toEqual(datasetsHeaders);
  expect(linesOf(head, "Date", "Set-Cookie", "Connection")).toEqual([
    expect.stringMatching(/^Date: /),
    "Connection: close",
  ]);
  expect(JSON.parse(body)).toEqual({
    error: {
      code: "9503",
      message: `This part of the interface is switched off for a while, until ${window.until}, because it will go. Use /v1/datasets instead. See ${page}`,
      additional_information: `A planned brown-out of /api/v1, from ${window.from} until ${window.until}; it ends for good on 2027-01-01`,
    },
  });
  expect(asked).toEqual([]);
});

test("an answer of a brown-out is no failure", async () => {
  stoppedAt(during);
  const { port, core } = await gatewayOver({ BROWNOUTS: [window] });
  for (let i = 0; i < 5; i++) expect((await exchange(port, get(path))).status).toBe(503);
  expect(core.traffic.lastMinute().filter(({ errors }) => errors > 0)).toEqual([]);
});

test.each(["/api/v1/xml/data/61", "/api/v1/data/61", "/api/v1", "/api/v1/jsonx"])(
  "410 in legacy's XML if the path names XML or no format: %s",
  async (target) => {
    stoppedAt(during);
    const link = `${page}?a=1&b=2`;
    const { port } = await gatewayOver({ BROWNOUTS: [{ ...window, status: 410, link }] });
    const { status, headers, body } = await exchange(port, get(target));
    expect([status, headers.has("retry-after"), headers.get("content-type"), headers.get("link")]).toEqual([
      410,
      false,
      "text/xml; charset=utf-8",
      `<${link}>; rel="deprecation"; type="text/html"`,
    ]);
    expect(body).toMatch(
      /^<oml:error xmlns:oml="http:\/\/openml\.org\/openml">\n\t<oml:code>9410<\/oml:code>\n\t<oml:message>/,
    );
    const read = new XMLParser({ parseTagValue: false }).parse(body) as { "oml:error": Record<string, string> };
    expect(read["oml:error"]).toMatchObject({
      "oml:code": "9410",
      "oml:message": expect.stringContaining(`See ${link}`) as string,
      "oml:additional_information": expect.stringMatching(/^A planned brown-out of \/api\/v1, from/) as string,
    });
  },
);

test("a 410 without an end is for good, and says so", async () => {
  const clock = stoppedAt("2026-11-21T11:59:59Z");
  const { until: _, ...gone } = { ...window, status: 410 as const };
  const { port, asked } = await gatewayOver({ BROWNOUTS: [gone], DEPRECATED: [datasets] });
  expect((await exchange(port, get(path))).status).toBe(200);
  for (const now of ["2026-11-21T12:00:00Z", "2049-01-01T00:00:00Z"]) {
    clock.set(now);
    const { status, headers, body } = await exchange(port, get(path));
    expect([status, headers.has("retry-after")]).toEqual([410, false]);
    expect(JSON.parse(body)).toEqual({
      error: {
        code: "9410",
        message: `This part of the interface is gone for good. Use /v1/datasets instead. See ${page}`,
        additional_information: `/api/v1 has been gone since ${window.from}`,
      },
    });
  }
  expect(asked).toHaveLength(1);
});

test("in plain text beside the legacy interface", async () => {
  stoppedAt(during);
  const { port } = await gatewayOver({ BROWNOUTS: [{ ...window, path: "/" }] });
  const { status, headers, body } = await exchange(port, get("/d/61"));
  expect([status, headers.get("content-type")]).toEqual([503, "text/plain; charset=utf-8"]);
  expect(body).toContain("switched off for a while");
});

test("two pages, of the path and of its brown-out, are both named", async () => {
  stoppedAt(during);
  const link = "https://status.example/1";
  const { port } = await gatewayOver({ BROWNOUTS: [{ ...window, link }], DEPRECATED: [datasets] });
  const { head, body } = await exchange(port, get(path));
  expect(body).toContain(`See ${link} and ${page}`);
  expect(ofDeprecation(head)).toEqual([...datasetsHeaders, `Link: <${link}>; rel="deprecation"; type="text/html"`]);
});

test("any method is answered", async () => {
  stoppedAt(during);
  const { port, asked } = await gatewayOver({ BROWNOUTS: [window] });
  for (const method of ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"]) {
    const { status, headers, body } = await exchange(port, request(`${method} ${path}`));
    expect([method, status, body === "", asked]).toEqual([method, 503, method === "HEAD", []]);
    expect(Number(headers.get("content-length"))).toBeGreaterThan(0);
  }
});

describe("an upload", () => {
  test.each([
    ["with a length", "Content-Length: 3000000"],
    ["in chunks", "Transfer-Encoding: chunked"],
  ])("%s is answered before its end, and its connection stays open", async (_, framing) => {
    stoppedAt(during);
    const { port, asked } = await gatewayOver({ BROWNOUTS: [{ ...window, path }] });
    const { socket, text } = openConnection(port);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: front.example\r\n${framing}\r\n\r\n`);
    await until(() => text().includes("9503"));
    const mebibyte = "x".repeat(1_000_000);
    const chunked = framing.startsWith("Transfer");
    for (let i = 0; i < 3; i++) socket.write(chunked ? `${mebibyte.length.toString(16)}\r\n${mebibyte}\r\n` : mebibyte);
    if (chunked) socket.write("0\r\n\r\n");
    socket.write(get("/other"));
    await until(() => text().endsWith("{}"));
    expect(asked).toEqual(["GET /other"]);
  });

  test("whose body never comes does not hold its connection", async () => {
    stoppedAt(during);
    const { port } = await gatewayOver({ BROWNOUTS: [window] });
    const { socket, text, closed } = openConnection(port);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nx`);
    await closed;
    expect(text()).toContain("HTTP/1.1 503");
  });

  test("that waits for a 100 gets its answer", async () => {
    stoppedAt(during);
    const { port, asked } = await gatewayOver({ BROWNOUTS: [window] });
    const { socket, text } = openConnection(port);
    socket.write(`PUT ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n`);
    await until(() => text().includes("HTTP/1.1 503"));
    expect(asked).toEqual([]);
  });
});

test("it is counted, logged once, and listed as a use", async () => {
  stoppedAt(during);
  const { port, core, observer, clients } = await gatewayOver({ BROWNOUTS: [window] });
  for (let i = 0; i < 3; i++) await send(port, get(`${path}?api_key=hush`, "User-Agent: old/1"));
  await until(() => clients()[0]?.count === 3);
  expect(observer.counts()).toEqual({ brownout: 1 });
  expect(await pageOfMetrics(core.meter)).toMatch(/^catalog_gateway_brownout_answers_total 3$/m);
  expect(clients()).toMatchObject([{ agent: "old/1", path: "/api/v1/json/data/{id}", count: 3 }]);
});

test("a brown-out's event is not repeated after a reload, unless its time changes", async () => {
  stoppedAt(during);
  const { port, observer, reconfigure } = await gatewayOver({ BROWNOUTS: [window] });
  const answered = async () => {
    const { head } = await send(port, get(path));
    return [head.slice(9, 12), observer.counts()["brownout"]];
  };
  expect(await answered()).toEqual(["503", 1]);
  await reconfigure({ BROWNOUTS: [window], DEPRECATED: [datasets] });
  expect(await answered()).toEqual(["503", 1]);
  await reconfigure({ BROWNOUTS: [{ ...window, until: "2026-11-21T14:00:00Z" }] });
  expect(await answered()).toEqual(["503", 2]);
  await reconfigure({});
  expect(await answered()).toEqual(["200", 2]);
});

test.each([
  ["/api/v1/x", "11:59:59.999", 200],
  ["/api/v1/x", "12:00:00.000", 503],
  ["/api/v1/x", "12:59:59.999", 503],
  ["/api/v1/x", "13:00:00.000", 200],
  ["/api/v1/json/x", "12:29:00.000", 410],
  ["/api/v1/json/x", "12:30:00.000", 503],
  ["/api/v1/jsonx", "12:10:00.000", 503],
  ["/api/v10", "12:10:00.000", 200],
  ["//api/v1//json/x", "12:29:00.000", 410],
  // The new interface's status for legacy's answer.
  ["/v1/datasets/61", "12:10:00.000", 502],
])("of several brown-outs the longest path counts, then the latest end: %s at %s", async (target, time, status) => {
  stoppedAt(`2026-11-21T${time}Z`);
  const BROWNOUTS = [
    { ...window, until: "2026-11-21T12:10:00Z" },
    window,
    { ...window, path: "/api/v1/json", until: "2026-11-21T12:30:00Z", status: 410 as const },
  ];
  const { port, asked } = await gatewayOver({ BROWNOUTS });
  expect((await send(port, get(target))).head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(asked.length > 0).toBe(status === 200 || status === 502);
});
