import { request as send } from "undici";
import { describe, expect, test } from "vitest";
import { ask } from "../../../src/gateway/upstream/ask.ts";
import { expectDetail, exchange } from "../answer/support.ts";
import { listeningGateway } from "../http/support.ts";
import { expectHealthy, get, healthy, openProxy, rawUpstream, request } from "./support.ts";
import { forbiddenRequests } from "../../torture/fuzz/forbidden.ts";
import { until } from "../../support/waiting.ts";

const healthyUpstream = () => rawUpstream((socket) => void socket.write(healthy));

/** If a chunk has no end, the bytes before it are sent on already. */
const refusedRequests: [name: string, bytes: string][] = [
  ...forbiddenRequests("/x").filter(([name]) => name !== "chunk without an end"),
  ["a user in its authority", get("http://a@b/x")],
  ["chunks in HTTP/1.0", "POST /x HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
];

describe("through one connection to legacy", () => {
  test("each forbidden request is refused unsent, and the next GET is answered", async () => {
    const { origin, requests } = await healthyUpstream();
    const { port } = await listeningGateway(origin, { MAX_CONNECTIONS: "1" });
    for (const [name, bytes] of refusedRequests) {
      const { status } = await exchange(port, bytes);
      // Node may close the connection of a request without a sound head, without an answer.
      const isRefused = Number.isNaN(status) || status >= 400;
      expect([name, isRefused, requests.splice(0)]).toEqual([name, true, []]);
      expect((await exchange(port, get("/healthy"))).body).toBe("healthy");
      requests.splice(0);
    }
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

  test("bytes behind a refused request on its connection are ignored", async () => {
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
      // One request at a time on one connection, refused or not.
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
    const read = (path: string, headers = {}) =>
      ask(upstream, { method: "GET", path, headers, maxBytes: 1000, totalTimeout: 2000 });
    for (let i = 0; i < 3; i++) await expect(read("/", { bad: "a\nb" })).rejects.toThrow("The upstream broke off");
    expect((await read("/healthy")).body.toString()).toBe("healthy");
  });
});
