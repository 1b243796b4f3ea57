import { request as httpRequest } from "node:http";
import { describe, expect, test } from "vitest";
import { listeningGateway, recordingUpstream } from "../http/support.ts";
import { get, request } from "../proxy/support.ts";
import { usedMemory } from "../../support/memory.ts";
import { until } from "../../support/waiting.ts";
import { exchange, expectDetail, keys, openConnection } from "./support.ts";
import { valueOf } from "../../support/metrics.ts";

const open = async (environment: Record<string, string> = {}) => {
  const { url, seen } = await recordingUpstream(() => ({ body: '{"data":{"dataset":[]}}' }));
  const gateway = await listeningGateway(url, { MAX_BODY_BYTES: "1024", ...environment });
  return { ...gateway, seen, receiving: () => valueOf(gateway.core.meter, "memory_bytes") };
};
const post = (...headers: string[]) => request("POST /v1/datasets/list", "Content-Type: application/json", ...headers);
const sized = (body: string | Buffer, type = "application/json", path = "/v1/datasets/list") =>
  Buffer.concat([
    Buffer.from(request(`POST ${path}`, `Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`)),
    Buffer.from(body),
  ]);
const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
const expectHealthy = async (port: number) => expect((await exchange(port, sized("{}"))).body).toBe("[]");

describe("a body of more than MAX_BODY_BYTES", () => {
  const most = `{"tag":"${"x".repeat(1024 - 10)}"}`;

  test.each([
    [1024, 422],
    [1025, 413],
    [1_000_000, 413],
  ])("a body of %i bytes, by length or in chunks: %i", async (size, status) => {
    const { port, seen } = await open();
    const body = most.padEnd(size);
    for (const bytes of [sized(body), post("Transfer-Encoding: chunked") + chunked(body)])
      expectDetail(await exchange(port, bytes), status);
    expect(seen).toEqual([]);
    await expectHealthy(port);
  });

  test.each([
    ["that has begun", `${request("POST /v1/datasets/list", "Content-Length: 9000")}${" ".repeat(5000)}`],
    ["by the length it declares", post("Content-Length: 100000000")],
  ])("a body that is too large ends its connection, whose rest is not read: %s", async (_, bytes) => {
    const { port } = await open();
    const client = openConnection(port);
    client.socket.write(bytes.replace("Connection: close\r\n", ""));
    await client.closed;
    expect(client.text()).toMatch(/^HTTP\/1\.1 413 [^]*connection: close/i);
  });

  test("a usual client sees the refusal before it has sent all of the body", async () => {
    const { url, port } = await open();
    for (let i = 0; i < 3; i++) {
      const response = await fetch(`${url}/v1/datasets/list`, {
        method: "POST",
        body: "x".repeat(5_000_000),
        headers: { "Content-Type": "application/json" },
      });
      expect([response.status, await response.json()]).toEqual([413, { detail: expect.any(String) as string }]);
    }
    await expectHealthy(port);
  });

  test("a body is not read for a path or a method that takes none", async () => {
    const { port } = await open();
    const big = "x".repeat(200_000);
    expectDetail(await exchange(port, sized(big, "application/json", "/v1/nothing")), 404);
    expectDetail(await exchange(port, sized(big, "application/json", "/v1/datasets/61")), 405);
    await expectHealthy(port);
  });
});

describe("a body that stops coming", () => {
  test("a body that stops coming is not waited for without end", async () => {
    const { port } = await open({ BODY_TIMEOUT_MS: "100", TOTAL_TIMEOUT_MS: "200" });
    const client = openConnection(port);
    client.socket.write(`${post("Content-Length: 50")}{`);
    await client.closed;
    expect(client.text()).toMatch(/^HTTP\/1\.1 (408|504) /);
  });

  test("a body that stops because its client left is no error", async () => {
    const { port, seen, observer } = await open();
    for (const bytes of [`${post("Content-Length: 100")}{"lim`, `${post("Transfer-Encoding: chunked")}5\r\n{"`])
      for (let i = 0; i < 10; i++) {
        const { socket, closed } = openConnection(port);
        socket.write(bytes, () => (i % 2 === 0 ? socket.resetAndDestroy() : socket.destroy()));
        await closed;
      }
    await expectHealthy(port);
    expect(seen).toHaveLength(1);
    expect(observer.counts()).toEqual({});
  });
});

describe("a body", () => {
  test("is read if its type and its coding are those of JSON", async () => {
    const { port } = await open();
    const types: [type: string, status: number][] = [
      ["text/plain", 415],
      ["application/x-www-form-urlencoded", 415],
      ["application/jsonx", 415],
      ["application/json\r\nContent-Type: text/plain", 415],
      ["application/json", 200],
      ["Application/JSON; charset=utf-8", 200],
      ["", 200],
      ["application/json\r\nContent-Encoding: gzip", 415],
      ["application/json\r\nContent-Encoding: identity", 200],
      ["application/json\r\nContent-Encoding:", 200],
    ];
    for (const [type, status] of types) {
      const answer = await exchange(port, sized("{}", type));
      expect([type, answer.status]).toEqual([type, status]);
      if (status !== 200) expectDetail(answer, status);
      const isCoding = status === 415 && type.includes("Encoding");
      expect([type, answer.headers.get("accept-encoding")]).toEqual([type, isCoding ? "identity" : undefined]);
    }
  });

  test("is read as strict JSON, an object whose members are known", async () => {
    const { port, seen } = await open();
    const bodies: [body: string, status: number][] = [
      ["", 200],
      ["{}", 200],
      [' \n{"limit":1}\n', 200],
      ["{", 422],
      [" ", 422],
      ["[]", 422],
      // A byte order mark may begin a JSON text (RFC 8259 8.1).
      ['\ufeff{"limit":2}', 200],
      ["\ufeff\ufeff{}", 422],
      ['{"__proto__":{"limit":1}}', 422],
      ['{"pagination":{"__proto__":1}}', 422],
      ['{"limit":1,"pagination":{"limit":1}}', 422],
      [`{"tag":${"[".repeat(450)}${"]".repeat(450)}}`, 422],
      ['{"limit":1e400}', 422],
      ['{"offset":9007199254740993}', 422],
      ['{"tag":"a/limit/1"}', 422],
    ];
    for (const [body, status] of bodies) {
      const answer = await exchange(port, sized(body));
      expect([body, answer.status]).toEqual([body, status]);
      if (status !== 200) expectDetail(answer, status);
    }
    // The second is answered from the cache.
    expect(seen).toHaveLength(3);
  });

  test("a body in no UTF-8, or compressed, is no JSON", async () => {
    const { port } = await open();
    for (const bytes of [
      Buffer.from([0x22, 0xff, 0x22]),
      Buffer.from("{}", "utf16le"),
      Buffer.from([0x1f, 0x8b, 8, 0]),
    ])
      expect((await exchange(port, sized(bytes))).body).toContain("value_error.jsondecode");
  });

  test.each([
    ["of a GET is ignored", "GET /v1/datasets/abc", "GET /x ", "422"],
    ["that was not read (401) is skipped", "POST /v1/datasets/tag", "x".repeat(300_000), "401"],
  ])("a body %s, and its connection serves the next request", async (_, line, body, status) => {
    const { port } = await open();
    const first = `${line} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const { text } = await exchange(port, first, get("/v1/nothing"));
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, found]) => found)).toEqual([status, "404"]);
  });

  test("a body that is announced with Expect: 100-continue is asked for", async () => {
    const { port } = await open();
    const status = await new Promise((resolve, reject) => {
      const asking = httpRequest({
        port,
        path: "/v1/datasets/list",
        method: "POST",
        agent: false,
        headers: { Expect: "100-continue" },
      });
      asking.on("continue", () => asking.end("{}")).on("response", (response) => resolve(response.statusCode));
      asking.on("error", reject).flushHeaders();
    });
    expect(status).toBe(200);
  });

  test("a body cannot carry a key", async () => {
    const { port, seen } = await open();
    const answer = await exchange(port, sized(`{"api_key":"${keys.user}"}`));
    expectDetail(answer, 422);
    expect(answer.body).not.toContain(keys.user);
    expect(seen).toEqual([]);
  });
});

describe("bodies that are being received", () => {
  test("bodies that come take the memory of their bytes, also in chunks of one byte", async () => {
    const { port, receiving } = await open({ MAX_BODY_BYTES: "400000" });
    const { socket } = openConnection(port);
    const before = usedMemory();
    socket.write(post("Transfer-Encoding: chunked") + "1\r\n \r\n".repeat(300_000));
    await until(async () => (await receiving()) > 250_000);
    expect(usedMemory() - before).toBeLessThan(20);
  });

  test("bodies share one bound of memory: beyond it a large one is 503, a small one read", async () => {
    const { port, receiving } = await open({
      MAX_BODY_BYTES: "40000",
      MEMORY_BYTES: "64000",
      MAX_REPLY_BYTES: "1024",
      BODY_TIMEOUT_MS: "200000",
    });
    const slow = Array.from({ length: 2 }, () => {
      const { socket } = openConnection(port);
      socket.write("POST /v1/datasets/list HTTP/1.1\r\nHost: a\r\nContent-Length: 32096\r\n\r\n");
      socket.write(Buffer.alloc(32_095, " "));
      return socket;
    });
    // The first 4 KiB of each are not counted.
    await until(async () => (await receiving()) > 55_000);
    const refused = await exchange(port, sized(" ".repeat(20_000)));
    expectDetail(refused, 503);
    expect(refused.headers.get("retry-after")).toBe("5");
    await expectHealthy(port);
    for (const socket of slow) socket.destroy();
    await until(async () => (await receiving()) === 0);
    await expectHealthy(port);
  });
});
