import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import type { ResponseObserver } from "../../../src/gateway/proxy/heldAnswer.ts";
import type { Beginning } from "../../../src/gateway/upstream/answerBeginning.ts";
import { expectHealthy, openProxy, rawUpstream, request, send } from "./support.ts";
import { settled, until } from "../../support/waiting.ts";

const post = (...headers: string[]) => request("POST /write", "Content-Length: 4", ...headers);
const body = "a=bc";

/** The text that an upstream writes, and how it ends the connection. */
type Answer = string | readonly [text: string, ending: "end" | "resetAndDestroy"];

/** A gateway that observes all writes, and holds an answer until it is released. */
const watched = async (answer: Answer | ((write: (text: string) => void) => void), atOnce = false) => {
  const beginnings: (Beginning | undefined)[] = [];
  const seen: string[] = [];
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const watch = (_: unknown, { method }: IncomingMessage): ResponseObserver | undefined =>
    method === "POST"
      ? {
          chunk: (bytes) => void seen.push(bytes.toString()),
          over(beginning) {
            beginnings.push(beginning);
            return atOnce ? undefined : beginning && released;
          },
        }
      : undefined;
  const { origin, requests } = await rawUpstream((socket, head) => {
    if (head.startsWith("GET")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nhealthy");
    else if (typeof answer === "string") socket.write(answer);
    else if (typeof answer !== "function") socket.write(answer[0], () => socket[answer[1]]());
    else answer((text) => void (text === "" ? socket.destroy() : socket.write(text)));
  });
  const gateway = await openProxy(origin, { observe: watch, connections: 1 });
  return { ...gateway, beginnings, seen, requests, release };
};

describe("an answer to a write goes out when its observer is done", () => {
  test.each<[string, Answer, string]>([
    ["with a body", "HTTP/1.1 201 Created\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello", "hello"],
    ["in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", "hel"],
    ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", ""],
    ["with an empty one", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""],
    [
      "after a provisional one",
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      "ok",
    ],
    // It is over, or broken off, while it is held.
    ["until it closes", ["HTTP/1.1 412 Precondition Failed\r\n\r\nhello", "end"], "hello"],
    [
      "which closes when it is there",
      ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello", "end"],
      "hello",
    ],
  ])("%s", async (_, answer, beginning) => {
    const { beginnings, seen, release, ...gateway } = await watched(answer);
    let isBack = false;
    const sent = send(gateway.port, post(), body).finally(() => (isBack = true));
    await until(() => beginnings.length === 1);
    await settled();
    expect(beginnings[0]?.body.toString()).toBe(beginning);
    expect(seen.join("")).toBe(body);
    expect(isBack).toBe(false);
    release();
    const { text } = await sent;
    expect(text).toMatch(new RegExp(`HTTP/1.1 ${beginnings[0]?.status} `));
    expect(text.replace(/\r\n\d\r\n/g, "")).toContain(beginning);
    expect(beginnings).toHaveLength(1);
    await expectHealthy(gateway);
  });

  test("many writes are held in turn on one connection to the upstream", async () => {
    const { beginnings, release, ...gateway } = await watched("HTTP/1.1 204 No Content\r\n\r\n");
    release();
    for (let i = 0; i < 5; i++) expect((await send(gateway.port, post(), body)).head).toMatch(/^HTTP\/1\.1 204 /);
    expect(beginnings).toHaveLength(5);
    await expectHealthy(gateway);
  });
});

describe("without an answer the observer is called once", () => {
  test.each([
    ["breaks at once", ["", ""]],
    ["breaks within its head", ["HTTP/1.1 200 OK\r\nConte", ""]],
    ["breaks after its head", ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", ""]],
  ])("an upstream that %s", async (_, parts) => {
    const { beginnings, release, ...gateway } = await watched((write) => {
      for (const [i, part] of parts.entries()) setTimeout(() => write(part), 20 * i);
    });
    release();
    expect((await send(gateway.port, post(), body)).head).toMatch(/^HTTP\/1\.1 502 /);
    expect(beginnings).toEqual([undefined]);
    await expectHealthy(gateway);
  });

  test.each<[string, Answer]>([
    ["with a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"],
    ["until it closes", ["HTTP/1.1 200 OK\r\n\r\nhello", "end"]],
  ])("a client that leaves while an answer %s is held does no harm", async (_, answer) => {
    const { beginnings, release, ...gateway } = await watched(answer);
    const leaving = new AbortController();
    const left = fetch(`http://127.0.0.1:${gateway.port}/write`, {
      method: "POST",
      body,
      signal: leaving.signal,
    }).catch((error: Error) => error.name);
    await until(() => beginnings.length === 1);
    leaving.abort();
    expect(await left).toBe("AbortError");
    await settled();
    release();
    expect(beginnings).toHaveLength(1);
    await expectHealthy(gateway);
  });
});

describe("an answer that cannot be sent on whole is a 502", () => {
  const coded = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
  test.each<[string, "at once" | "later" | "once it has failed", Answer]>([
    ["cut within its length", "once it has failed", ["HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhe", "end"]],
    [
      "cut within a chunk",
      "once it has failed",
      ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhe", "end"],
    ],
    ["reset", "once it has failed", ["HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhe", "resetAndDestroy"]],
    ["coded for the transfer", "at once", coded],
    ["coded for the transfer", "later", coded],
    ["coded until it closes", "later", ["HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n{}", "end"]],
    ["a header with a control character", "later", "HTTP/1.1 200 OK\r\nX: a\x7fb\r\nContent-Length: 2\r\n\r\n{}"],
    ["the same until it closes", "later", ["HTTP/1.1 200 OK\r\nX: a\x7fb\r\n\r\n{}", "end"]],
  ])("%s, let go %s", async (_, when, answer) => {
    const { beginnings, release, ...gateway } = await watched(answer, when === "at once");
    const sent = send(gateway.port, post(), body);
    await until(() => beginnings.length === 1 && (when !== "once it has failed" || gateway.events.length === 1));
    release();
    const { text } = await sent;
    expect(text.match(/^HTTP\/1\.1 \d+/gm)).toEqual(["HTTP/1.1 502"]);
    expect(gateway.events).toMatchObject([{ kind: "broken" }]);
    expect(beginnings).toHaveLength(1);
    await expectHealthy(gateway);
  });
});
