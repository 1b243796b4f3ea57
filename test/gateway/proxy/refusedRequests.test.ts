import { connect } from "node:net";
import fc from "fast-check";
import { request as send } from "undici";
import { describe, expect, test } from "vitest";
import { ask } from "../../../src/gateway/upstream/ask.ts";
import { expectDetail, exchange } from "../answer/support.ts";
import { listeningGateway } from "../http/support.ts";
import { expectHealthy, get, healthy, openProxy, rawUpstream, request } from "./support.ts";
import { forbiddenRequests } from "../../torture/fuzz/forbidden.ts";
import { until } from "../../support/waiting.ts";

const healthyUpstream = () => rawUpstream((socket) => void socket.write(healthy));

/** Beside the forbidden ones; where a chunk has no end, what comes before it is sent on already. */
const refusedRequests: [name: string, bytes: string][] = [
  ...forbiddenRequests("/x").filter(([name]) => name !== "chunk without an end"),
  ["a user in its authority", get("http://a@b/x")],
  ["chunks in HTTP/1.0", "POST /x HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
];

describe("through one connection to legacy", () => {
  test.each(refusedRequests)("a request with %s is refused unsent, and the next GET is answered", async (_, bytes) => {
    const { origin, requests } = await healthyUpstream();
    const { port } = await listeningGateway(origin, { MAX_CONNECTIONS: "1" });
    for (let i = 0; i < 3; i++) {
      const { status } = await exchange(port, bytes);
      // Of a request without a sound head Node may close the connection without an answer.
      expect(Number.isNaN(status) || status >= 400).toBe(true);
    }
    expect(requests).toEqual([]);
    expect((await exchange(port, get("/healthy"))).body).toBe("healthy");
  });

  test.each(["gzip, chunked", "identity, chunked", "GZIP,chunked"])(
    "a transfer coding of %s is 501, and the next GET is answered",
    async (coding) => {
      const { origin, requests } = await healthyUpstream();
      const { port } = await listeningGateway(origin, { MAX_CONNECTIONS: "1" });
      const bytes = `${request("POST /x", `Transfer-Encoding: ${coding}`)}2\r\nhi\r\n0\r\n\r\n`;
      expectDetail(await exchange(port, bytes), 501);
      expect(requests).toEqual([]);
      expect((await exchange(port, get("/healthy"))).body).toBe("healthy");
    },
  );

  test("what follows a refused request on its connection is not acted on", async () => {
    const { origin, requests } = await healthyUpstream();
    const { port } = await listeningGateway(origin);
    const { text } = await exchange(
      port,
      `GET * HTTP/1.1\r\nHost: a\r\n\r\n${request("POST /x", "Content-Length: 2")}hi`,
    );
    expect(text.match(/^HTTP\/1\.1 /gm)).toHaveLength(1);
    expect(requests).toEqual([]);
  });
});

describe("a request that undici refuses", () => {
  const refused = [
    { method: "GET", path: "*" },
    { method: "GET", path: "/", headers: ["X-Bad", "a\nb"] },
    { method: "GET", path: "/", headers: ["Host", "a", "host", "b"] },
    { method: "POST", path: "/a b", body: "hi" },
    { method: "B AD", path: "/" },
  ];

  test("a request that undici refuses does not use up its connection", async () => {
    const { origin, requests, connections } = await healthyUpstream();
    const gateway = await openProxy(origin, { connections: 1 });
    for (const options of refused)
      for (let i = 0; i < 3; i++) {
        const why = await new Promise((resolve) =>
          gateway.upstream.pool.dispatch(options, { onResponseError: (_, error) => resolve(error) }),
        );
        expect(why).toMatchObject({ code: "UND_ERR_INVALID_ARG" });
      }
    await expectHealthy(gateway);
    expect([requests.length, connections()]).toEqual([1, 1]);
  });

  test("a refused request that has waited does not use up its connection either", async () => {
    const answers: (() => void)[] = [];
    const { origin, requests } = await rawUpstream((socket) => answers.push(() => socket.write(healthy)));
    const gateway = await openProxy(origin, { connections: 1 });
    const { pool } = gateway.upstream;
    const good = () => send(origin, { dispatcher: pool });
    const failed: Error[] = [];
    const first = good();
    await until(() => requests.length === 1);
    for (const options of refused) pool.dispatch(options, { onResponseError: (_, error) => failed.push(error) });
    const second = good();
    for (let i = 0; i < 2; i++) {
      await until(() => answers.length === 1);
      // One request at a time on one connection, refused ones or not.
      expect(requests).toHaveLength(i + 1);
      answers.splice(0).forEach((answer) => answer());
    }
    expect(await (await first).body.text()).toBe("healthy");
    expect(await (await second).body.text()).toBe("healthy");
    expect(failed).toHaveLength(refused.length);
  });

  test("a refused request of the gateway's own does not use up its connection", async () => {
    const { origin } = await healthyUpstream();
    const { upstream } = await openProxy(origin, { connections: 1 });
    const one = (path: string, headers = {}) =>
      ask(upstream, { method: "GET", path, headers, maxBytes: 1000, totalTimeout: 2000 });
    for (let i = 0; i < 3; i++) await expect(one("/", { bad: "a\nb" })).rejects.toThrow("The upstream broke off");
    expect((await one("/healthy")).body.toString()).toBe("healthy");
  });
});

test("after any batch of request heads the next GET is answered", async () => {
  const { origin } = await healthyUpstream();
  const { port } = await listeningGateway(origin, { MAX_CONNECTIONS: "1", PREFIXES: "/v1" });
  const from = (...texts: string[]) => fc.constantFrom(...texts);
  const noise = fc.string({ unit: from(...Array.from("ab/:*@,#?%[] \t\\\x00é")), maxLength: 8 });
  const target = fc.oneof(
    from("/", "*", "/v1/datasets/1", "http://a/", "http://", "http://a@b/", "ftp://a/", "a:80", "//a", "/a#b"),
    noise,
    noise.map((text) => `/${text}`),
    noise.map((text) => `http://${text}`),
  );
  const header = fc.oneof(
    from(
      "Host: a",
      "Host: b",
      "Host:",
      "Host: a@b",
      "Host: one, two",
      "host: a/b",
      "Content-Length: 0",
      "Upgrade: h2c",
    ),
    from(
      "Content-Length: 9007199254740993",
      "Transfer-Encoding: gzip, chunked",
      "Transfer-Encoding: chunked",
      "X: \xe9",
    ),
    from(
      "Connection: keep-alive, host",
      "Connection: upgrade",
      "Expect: 100-continue",
      "Expect: more",
      "Keep-Alive: x",
    ),
    noise.map((text) => `Host: ${text}`),
    noise.map((text) => `X-${text}: ${text}`),
  );
  const head = fc
    .tuple(
      from("GET", "POST", "OPTIONS", "HEAD", "CONNECT", "QUERY"),
      target,
      from("1.1", "1.0"),
      fc.array(header, { maxLength: 4 }),
    )
    .map(
      ([method, path, version, headers]) => `${[`${method} ${path} HTTP/${version}`, ...headers].join("\r\n")}\r\n\r\n`,
    );
  /** Sends a head, waits for the first bytes of an answer (at most 50 ms) and leaves. */
  const sendAndLeave = (bytes: string) =>
    new Promise<void>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      const leave = () => {
        clearTimeout(late);
        socket.destroy();
        resolve();
      };
      const late = setTimeout(leave, 50);
      socket.once("data", leave).once("close", leave).on("error", leave);
      socket.write(Buffer.from(bytes, "latin1"));
    });
  await fc.assert(
    fc.asyncProperty(fc.array(head, { minLength: 1, maxLength: 12 }), async (heads) => {
      await Promise.all(heads.map(sendAndLeave));
      expect((await exchange(port, get("/healthy"))).body).toBe("healthy");
    }),
    { numRuns: 60 },
  );
});
