import { XMLParser } from "fast-xml-parser";
import { describe, expect, test } from "vitest";
import { legacyPaths } from "../../../transforms/legacyInterface.ts";
import { openRetirement } from "../../../src/features/retirement/retirement.ts";
import type { Brownout, Deprecation } from "../../../src/features/retirement/schemas.ts";
import { exchange, openConnection } from "../../serve/support.ts";
import { get, request, send } from "../../proxy/support.ts";
import { datasets, datasetsHeaders, gatewayOver, linesOf, ofDeprecation, page, stoppedAt, window } from "./support.ts";
import { until } from "../../support/waiting.ts";

const during = "2026-11-21T12:59:29.500Z";
const path = "/api/v1/json/data/61";

test("503 with the seconds that are left, in legacy's JSON, and legacy is not asked", async () => {
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
  expect(JSON.parse(body)).toEqual({
    error: {
      code: "9503",
      message: `This part of the interface is switched off for a while, until ${window.until}, because it will go. Use /v1/datasets instead. See ${page}`,
      additional_information: `A planned brown-out of /api/v1, from ${window.from} until ${window.until}; it ends for good on 2027-01-01`,
    },
  });
  expect(asked).toEqual([]);
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

test.each(["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"])("%s", async (method) => {
  stoppedAt(during);
  const { port, asked } = await gatewayOver({ BROWNOUTS: [window] });
  const { status, headers, body } = await exchange(port, request(`${method} ${path}`));
  expect([status, body === "", asked]).toEqual([503, method === "HEAD", []]);
  expect(Number(headers.get("content-length"))).toBeGreaterThan(100);
});

test("only during its time and below its path; the new interface still answers", async () => {
  const { set } = stoppedAt("2026-11-21T11:59:59.999Z");
  const { port, asked } = await gatewayOver({ BROWNOUTS: [{ ...window, path: "/api/v1/json" }] });
  const status = async (target: string) => Number((await send(port, get(target))).head.slice(9, 12));
  expect(await status(path)).toBe(200);
  set("2026-11-21T12:00:00.000Z");
  expect([await status(path), await status("//api/v1//json/x"), await status("/api/v1/xml/data/61")]).toEqual([
    503, 503, 200,
  ]);
  expect(await status("/v1/datasets/61")).toBe(502); // that is what legacy's answer here comes to
  set("2026-11-21T13:00:00.000Z");
  expect(await status(path)).toBe(200);
  expect(asked.filter((one) => one.endsWith("/data/61"))).toHaveLength(4);
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
  const { port, services, observer, oldClients } = await gatewayOver({ BROWNOUTS: [window] });
  for (let i = 0; i < 3; i++) await send(port, get(`${path}?api_key=hush`, "User-Agent: old/1"));
  expect(observer.counts()).toEqual({ brownout: 1 });
  expect(await services.meter.registry.metrics()).toMatch(/^catalog_gateway_brownout_answers_total 3$/m);
  expect(oldClients.clients()).toMatchObject([{ agent: "old/1", path: "/api/v1/json/data/{id}", count: 3 }]);
});

test("its event holds neither key nor query, and is not repeated after a reload", () => {
  const events: unknown[] = [];
  const settings = (BROWNOUTS: Brownout[], DEPRECATED: Deprecation[] = []) => ({
    LEGACY_PATH: "/api/v1",
    DEPRECATED,
    BROWNOUTS,
  });
  const old = openRetirement(
    settings([window]),
    legacyPaths,
    () => Date.parse(during),
    (...event) => void events.push(event),
  );
  const answered = (target: string) => {
    const lines: unknown[] = [];
    const [req, res] = [
      { method: "GET", headers: {} },
      { writeHead: (...head: unknown[]) => void lines.push(head), end: () => undefined },
    ];
    return old.standIn(req as never, res as never, target) && lines.length === 1;
  };
  expect(answered("/api/v1/json/data/1?api_key=hush")).toBe(true);
  expect(events).toEqual([["brownout", { path: window.path, from: window.from, until: window.until, status: 503 }]]);
  old.reconfigure(settings([window], [datasets]));
  expect([answered("/api/v1/x"), events.length]).toEqual([true, 1]);
  old.reconfigure(settings([{ ...window, until: "2026-11-21T14:00:00Z" }]));
  expect([answered("/api/v1/x"), events.length]).toEqual([true, 2]);
  old.reconfigure(settings([]));
  expect([answered("/api/v1/x"), old.refused()]).toEqual([false, 3]);
});

test("a gateway's own answer has a Date and no cookie", async () => {
  stoppedAt(during);
  const { port } = await gatewayOver({ BROWNOUTS: [window] });
  const { head } = await send(port, get(path));
  expect(linesOf(head, "Date", "Set-Cookie", "Connection")).toEqual([
    expect.stringMatching(/^Date: /),
    "Connection: close",
  ]);
});
