import type { GatewayParts } from "../support/gateway.ts";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { MAX_UNCONFIRMED, openUnconfirmedWrites } from "../../src/serve/unconfirmedWrites.ts";
import { listeningGateway } from "../http/support.ts";
import { alice, cachedGateway, held, kept } from "./support.ts";
import { request as requestText, send } from "../proxy/support.ts";
import { freePort } from "../support/freePort.ts";
import { sleep, until } from "../support/waiting.ts";

const paths = [kept.getDataset, kept.listDatasets, kept.getStudy];
const urlencoded = { "Content-Type": "application/x-www-form-urlencoded" };
const tagForm = (key?: string) => `data_id=61&tag=a${key === undefined ? "" : `&api_key=${key}`}`;

type Answer = { status: number; type: string; body: string };

/** A gateway that has cached an answer of each path. Legacy gives proxied requests the answer that the test sets, or no answer. */
const filled = async (environment: Record<string, string> = {}, parts: GatewayParts = {}) => {
  const gateway = await cachedGateway(environment, undefined, parts);
  const fill = async () => {
    for (const path of paths) await gateway.ask(path);
  };
  await fill();
  /** How each path is served: `hit` while its entry is valid. */
  const served = async () =>
    Promise.all(paths.map(async (path) => (await gateway.ask(path)).how.split(/; (?:ttl|stored)/)[0]));
  return { ...gateway, fill, served };
};
const untouched = ["hit", "hit", "hit"];

/** Sends bytes and leaves. */
const leaveAfter = async (port: number, text: string) => {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  socket.write(text);
  await sleep(60);
  socket.destroy();
  await sleep(40);
};

describe("proxied requests that invalidate nothing", () => {
  test.each([
    ["without a key", ""],
    ["with a key", `?api_key=${alice}`],
  ])("an unfinished body, %s", async (_, query) => {
    const { ask, as, port, served, legacy } = await filled();
    await ask("/v1/datasets/abc", as(alice));
    for (const type of ["data", "data/tag", "study/99/attach"])
      await leaveAfter(port, `POST /api/v1/json/${type}${query} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx`);
    expect(await served()).toEqual(untouched);
    // Later answers may be cached.
    expect((await ask("/v1/datasets/62")).how).toMatch(/stored/);
    legacy.mode = "down";
    expect(await served()).toEqual(untouched);
  });

  test("a write whose answer is lost, without a key or with an invented one", async () => {
    const { ask, legacy, served } = await filled();
    legacy.mode = "down";
    for (const key of [undefined, "0", "c".repeat(32), "no key!"])
      expect(
        (await ask("/api/v1/json/data/tag", urlencoded, { method: "POST", body: tagForm(key) })).status,
      ).toBeGreaterThan(500);
    legacy.mode = "healthy";
    await sleep(50);
    expect(await served()).toEqual(untouched);
    expect((await ask("/v1/datasets/62")).how).toMatch(/stored/);
  });

  test("what lies elsewhere than legacy's interface", async () => {
    const { ask, port, served } = await filled();
    await send(port, requestText("POST /api/v1/../data/61", "Content-Length: 0"));
    for (const [method, path] of [
      ["POST", "/nowhere/data"],
      ["POST", "/data/61"],
      ["DELETE", "/data/61"],
      ["POST", "/API/v1/json/data/61"],
      ["PUT", "/api_new/index/v1/json/data"],
      ["POST", "/x?/api/v1/json/data"],
    ] as const)
      await ask(`${path}${path.includes("?") ? "&" : "?"}api_key=${alice}`, urlencoded, { method });
    expect(await served()).toEqual(untouched);
  });

  test("a session's cookie with an error, and no cookie and no key with none", async () => {
    const answer: Answer = { status: 200, type: "application/json", body: "{}" };
    const { ask, served } = await overPages(answer);
    const post = (cookie?: string) =>
      ask("/api/v1/json/data/tag", cookie === undefined ? {} : { Cookie: cookie }, { method: "POST", body: "x" });
    await post();
    await post("other=1; xci_session=a; ci_session=");
    for (const other of [
      { status: 412, type: "application/json", body: '{"error":{"code":"472","message":"Unknown"}}' },
      { status: 500, type: "text/html", body: "" },
      { status: 302, type: "text/html", body: "" },
      { status: 200, type: "text/html", body: "<html>" },
    ]) {
      Object.assign(answer, other);
      await post("a=b; ci_session=abc");
    }
    expect(await served()).toEqual(untouched);
    Object.assign(answer, { status: 200, type: "application/json", body: "{}" });
    await post("a=b; ci_session=abc");
    expect(await served()).toEqual(["fwd=uri-miss", "fwd=uri-miss", "hit"]);
  });

  test("a page of a front, with a key or without", async () => {
    const answer: Answer = { status: 400, type: "text/html", body: "<html>" };
    const { ask, served } = await overPages(answer);
    for (const status of [301, 400, 403, 404, 412, 429])
      for (const query of ["", `?api_key=${alice}`]) {
        answer.status = status;
        await ask(`/api/v1/json/data/tag${query}`, urlencoded, { method: "POST", body: "did=1" });
      }
    expect(await served()).toEqual(untouched);
  });
});

/** A gateway over a legacy that answers GET normally, and all other methods with the same answer. */
const overPages = async (answer: Answer) => {
  const { legacy, ...rest } = await cachedGateway();
  const front = createServer((request, response) => {
    if (request.method === "GET")
      return void fetch(legacy.url + request.url).then(async (reply) =>
        response.writeHead(reply.status, { "Content-Type": "application/json" }).end(await reply.text()),
      );
    return request
      .resume()
      .once("end", () => response.writeHead(answer.status, { "Content-Type": answer.type }).end(answer.body));
  });
  const gateway = await listeningGateway(await listening(front));
  const ask: typeof rest.ask = (path, headers, init) => {
    const moved = path.startsWith("http") ? path : gateway.url + path;
    return askAt(moved, headers, init);
  };
  for (const path of paths) await ask(path);
  const served = async () => Promise.all(paths.map(async (path) => (await ask(path)).how.split(/; (?:ttl|stored)/)[0]));
  return { ask, served };
};

const askAt = async (url: string, headers: Record<string, string> = {}, init: RequestInit = {}) => {
  const response = await fetch(url, {
    ...init,
    redirect: "manual",
    headers: { "Accept-Encoding": "identity", Connection: "close", ...headers },
  });
  const body = await response.text();
  const how = response.headers.get("cache-status")?.replace("catalog-gateway; ", "") ?? "";
  return { status: response.status, body, headers: response.headers, how };
};

const listening = async (server: Server, port = 0): Promise<string> => {
  await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

describe("a write that cannot have been sent", () => {
  test("changes nothing: legacy refuses connections, then its circuit is open", async () => {
    const { legacy } = await cachedGateway();
    const front = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
        const headers = { "Content-Type": request.headers["content-type"] ?? "text/plain" };
        void fetch(legacy.url + request.url, { method: request.method as string, headers, ...body }).then(
          async (reply) => response.writeHead(reply.status, { Connection: "close" }).end(await reply.text()),
        );
      });
    });
    // Not any port: once it is closed, a server of another test may get that one.
    const url = await listening(front, await freePort());
    const gateway = await listeningGateway(url);
    const ask = (path: string, headers = {}, init = {}) => askAt(gateway.url + path, headers, init);
    const own = { "X-API-Key": alice };
    for (const path of paths) await ask(path);
    await ask("/v1/datasets/abc", own);
    front.closeAllConnections();
    await new Promise((resolve) => front.close(resolve));
    const json = { ...own, "Content-Type": "application/json" };
    for (let i = 0; i < 40; i++) {
      const tagged = await ask("/v1/datasets/tag", json, { method: "POST", body: '{"data_id":61,"tag":"a"}' });
      expect(tagged.status).toBeOneOf([502, 503]);
      const passed = await ask("/api/v1/json/data/tag", urlencoded, { method: "POST", body: tagForm(alice) });
      expect(passed.status).toBe(502);
    }
    const how = async () => Promise.all(paths.map(async (path) => (await ask(path)).how.split("; ttl")[0]));
    expect(await how()).toEqual(untouched);
  });

  test("changes nothing: too many requests wait already", async () => {
    const { legacy, ask, post, as, served } = await filled({ MAX_CONNECTIONS: "1" }, { waiting: 1 });
    await ask("/v1/datasets/abc", as(alice));
    const { promise, release } = held();
    legacy.gate = promise;
    const waiting = [ask("/v1/setup/5"), ask("/v1/setup/6")];
    await sleep(50);
    const { status } = await post("/v1/setup/tag", { setup_id: 3, tag: "a" }, as(alice));
    expect(status).toBe(503);
    release();
    await Promise.all(waiting);
    expect(await served()).toEqual(untouched);
  });
});

describe("a write whose fate is unknown", () => {
  test.each<[string, "down" | "erroring"]>([
    ["the connection breaks", "down"],
    ["500 without a word", "erroring"],
  ])("leaves answers for where legacy fails: %s", async (_, mode) => {
    const { legacy, ask, as, post } = await filled();
    await ask(kept.getSetup);
    await ask("/v1/datasets/abc", as(alice));
    legacy.mode = mode;
    await post("/v1/setup/tag", { setup_id: 3, tag: "a" }, as(alice));
    await ask("/api/v1/json/data/tag", urlencoded, { method: "POST", body: tagForm(alice) });
    for (const path of [kept.getSetup, kept.getDataset, kept.listDatasets])
      expect([path, (await ask(path)).how]).toEqual([path, expect.stringMatching(/stale-if-error/)]);
    expect((await ask(kept.getStudy)).how).toMatch(/^hit/);
  });

  test("with a key that is not known yet counts once legacy has accepted the key", async () => {
    const { legacy, ask, post, as } = await filled();
    await ask(kept.getSetup);
    legacy.mode = "down";
    expect((await post("/v1/setup/tag", { setup_id: 3, tag: "a" }, as(alice))).status).toBe(502);
    expect((await ask(kept.getSetup)).how).toMatch(/^hit/);
    legacy.mode = "healthy";
    await until(() => legacy.asked.filter((one) => one.includes("evaluationmeasure")).length > 1);
    await sleep(30);
    expect((await ask(kept.getSetup)).how).toMatch(/^fwd=stale/);
  }, 20_000);
});

describe("writes that wait for the verification of their key", () => {
  const broken = { kind: "broken" as const, message: "" };
  const refused = { kind: "unauthenticated" as const, message: "" };

  test("are verified in turn, until legacy accepts or refuses the key", async () => {
    for (const [answers, expected] of [
      [[undefined], 1],
      [[broken, undefined], 1],
      [[broken, refused, undefined], 0],
      [[broken, broken, broken, undefined], 0],
    ] as const) {
      let outdated = 0;
      let asked = 0;
      const keys = {
        ownerOf: (key: string) => key,
        isProven: () => false,
        verify: () => Promise.resolve(answers[asked++]),
      };
      const onError = (error: unknown) => expect(error).toBeUndefined();
      const writes = openUnconfirmedWrites({ keys, timeout: 1000, delays: [0, 1, 1], onError });
      expect(writes.note(alice, () => void outdated++)).toBeUndefined();
      await until(() => writes.waiting() === 0);
      expect(outdated).toBe(expected);
    }
  });

  test("are bounded, and end with the gateway", async () => {
    let asked = 0;
    const keys = {
      ownerOf: (key: string) => key,
      isProven: (owner: string) => owner === alice,
      verify: () => Promise.resolve(asked++ < 0 ? undefined : broken),
    };
    const writes = openUnconfirmedWrites({ keys, timeout: 1000, delays: [0, 60_000], onError: () => undefined });
    let outdated = 0;
    for (let i = 0; i < MAX_UNCONFIRMED + 50; i++) void writes.note(`k${i}`, () => void outdated++);
    expect([writes.waiting(), asked]).toEqual([MAX_UNCONFIRMED, MAX_UNCONFIRMED]);
    // A key that is known needs no place.
    void writes.note(alice, () => void outdated++);
    expect(outdated).toBe(1);
    writes.close();
    await until(() => writes.waiting() === 0);
    expect([asked, outdated]).toEqual([MAX_UNCONFIRMED, 1]);
  });
});
