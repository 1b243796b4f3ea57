import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { expect, test } from "vitest";
import { listeningGateway } from "../gateway/http/support.ts";
import { httpUpstream } from "../gateway/proxy/support.ts";
import { describeWith } from "../support/needs.ts";
import { caddyProxies, nginxOfCompose, nginxProxies } from "./proxyPrograms.ts";

type Sent = { method?: string; headers?: OutgoingHttpHeaders; body?: string; from?: string };

/** One request, from a loopback address of the caller's choice: each is a client of its own. */
const send = (url: string, { method = "GET", headers = {}, body = "", from = "127.0.0.1" }: Sent = {}) =>
  new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const path = url.slice(url.indexOf("/", 8));
    const options = { hostname, port, path, method, headers, localAddress: from, agent: false };
    const sent = request(options, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    sent.on("error", reject).end(body);
  });

type Echo = { target: string; headers: IncomingHttpHeaders; bytes: number };
const echoOf = (text: string) => JSON.parse(text) as Echo;

/** Legacy: a list for the new interface; for the rest, an echo of the request. `received` counts bytes of bodies. */
const openLegacy = async () => {
  const state = { received: 0 };
  const url = await httpUpstream((incoming, response) => {
    if (incoming.url?.includes("/json/evaluationmeasure/list") === true)
      return response.end('{"evaluation_measures":{"measures":{"measure":["kappa"]}}}');
    let bytes = 0;
    incoming.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      state.received += chunk.length;
    });
    incoming.on("end", () => {
      response.setHeader("X-Legacy", "a").writeHead(207);
      response.end(JSON.stringify({ target: incoming.url ?? "", headers: incoming.headers, bytes } satisfies Echo));
    });
    return undefined;
  });
  return { url, state };
};

const openAll = async (start: typeof nginxProxies) => {
  const legacy = await openLegacy();
  const modern = await httpUpstream((_, response) =>
    response.setHeader("Content-Type", "application/json").end('["kappa"]'),
  );
  const gateway = await listeningGateway(legacy.url, {
    TRUSTED_PROXIES: "127.0.0.1",
    MODERN_URL: modern,
    STAGES: '{"listEvaluationMeasures": {"stage": "canary", "share": 50}}',
  });
  const proxies = await start(`127.0.0.1:${gateway.port}`, new URL(legacy.url).host);
  return { legacy, direct: gateway.url, ...proxies };
};

const programs = [
  ["nginx", nginxProxies],
  ["caddy", caddyProxies],
] as const;

for (const [program, start] of programs)
  describeWith(program, `deploy/${program}`, () => {
    test("one path, then all: requests, clients and uploads reach the gateway as they are", async () => {
      const { legacy, direct, onePath, allPaths } = await openAll(start);

      // The new interface is the gateway's through both; targets and answers are those without the proxy.
      const odd = ["/v1/evaluationmeasures/list", "/v1/flow/exists/a%2Fb%20c/1%3F/", "/v1/datasets/abc?x=%41"];
      for (const path of odd) {
        const expected = await send(direct + path);
        for (const proxy of [onePath, allPaths]) {
          const { status, headers, text } = await send(proxy + path);
          expect([path, status, text]).toEqual([path, expected.status, expected.text]);
          for (const name of ["content-type", "etag", "vary", "cache-control"])
            expect([name, headers[name]]).toEqual([name, expected.headers[name]]);
        }
      }

      // The legacy interface passes the gateway only with all paths.
      const passed = "/api/v1/json/data/a%2Fb?q=%20+&api_key=";
      const headers = { Host: "catalogue.example", "X-Forwarded-For": "6.6.6.6", "X-Real-IP": "6.6.6.6" };
      const forged = {
        ...headers,
        Forwarded: "for=6.6.6.6",
        "X-Forwarded-Port": "1",
        "X-Forwarded-Proto": "gopher",
        "X-Request-Id": "6.6.6.6",
      };
      const before = echoOf((await send(onePath + passed, { headers: forged })).text);
      expect([before.target, before.headers["via"] ?? ""]).toEqual([
        passed,
        expect.not.stringContaining("catalog-gateway"),
      ]);
      const after = await send(allPaths + passed, { headers: forged, from: "127.0.0.9" });
      expect([after.status, after.headers["x-legacy"]]).toEqual([207, "a"]);
      const seen = echoOf(after.text);
      expect(seen.target).toBe(passed);
      expect(seen.headers).toMatchObject({
        host: "catalogue.example",
        via: expect.stringContaining("catalog-gateway"),
        "x-forwarded-for": "127.0.0.9, 127.0.0.1",
        "x-forwarded-proto": "http",
        "x-forwarded-host": "catalogue.example",
        "x-real-ip": "127.0.0.9",
        forwarded: "for=127.0.0.1;host=catalogue.example;proto=http",
      });
      expect(JSON.stringify(seen.headers)).not.toMatch(/6\.6\.6\.6|gopher/);
      expect(seen.headers["x-forwarded-port"]).not.toBe("1");
      // Proxy, gateway and legacy name the request alike.
      expect(seen.headers["x-request-id"]).toMatch(/^[\da-f-]{32,36}$/);
      expect(after.headers["x-request-id"]).toBe(seen.headers["x-request-id"]);
      // A client that asks for no coding must not be given one by the proxy's own wish.
      expect(seen.headers["accept-encoding"]).toBeUndefined();

      // A canary tells clients apart, however many stand behind one proxy, and a forged address moves none.
      for (const proxy of [onePath, allPaths]) {
        const bucketOf = async (from: string, more = {}) => {
          const answer = await send(`${proxy}/v1/evaluationmeasures/list`, { from, headers: more });
          return /bucket=(\d+)/.exec(String(answer.headers["gateway-decision"]))?.[1];
        };
        const clients = Array.from({ length: 8 }, (_, i) => `127.0.1.${i + 1}`);
        const buckets = await Promise.all(clients.map((from) => bucketOf(from)));
        expect(new Set(buckets).size).toBeGreaterThan(1);
        expect(await Promise.all(clients.map((from) => bucketOf(from, { "X-Forwarded-For": "6.6.6.6" })))).toEqual(
          buckets,
        );
      }

      // A slow upload waits in the proxy: legacy receives its first byte after the client has sent its last byte.
      const { hostname, port } = new URL(allPaths);
      const half = Buffer.alloc(1 << 20);
      const receivedBefore = legacy.state.received;
      const answered = new Promise<string>((resolve, reject) => {
        const upload = request({ hostname, port, path: "/api/v1/json/data", method: "POST", agent: false });
        upload.setHeader("Content-Length", 2 * half.length);
        upload.on("error", reject).on("response", (response) => {
          let text = "";
          response.on("data", (chunk: Buffer) => (text += chunk.toString())).on("end", () => resolve(text));
        });
        upload.write(half, () => {
          void fetch(`${allPaths}/api/v1/json/data/1`)
            .then(() => expect(legacy.state.received).toBe(receivedBefore))
            .then(() => upload.end(half), reject);
        });
      });
      expect(echoOf(await answered).bytes).toBe(2 * half.length);
    });
  });

describeWith("nginx", "deploy/compose.nginx.conf", () => {
  test("both interfaces reach the gateway", async () => {
    const legacy = await openLegacy();
    const gateway = await listeningGateway(legacy.url);
    const origin = await nginxOfCompose(`127.0.0.1:${gateway.port}`);
    const list = await send(`${origin}/v1/evaluationmeasures/list`);
    expect([list.status, list.text]).toEqual([200, '["kappa"]']);
    const passed = await send(`${origin}/api/v1/json/data/61`);
    expect([passed.status, echoOf(passed.text).target]).toEqual([207, "/api/v1/json/data/61"]);
  });
});
