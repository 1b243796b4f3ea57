import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { sendReply } from "../../../src/gateway/http/ownErrors.ts";
import { dataFileSubstitutes } from "../../../src/gateway/proxy/dataFiles.ts";
import type { Substitute } from "../../../src/gateway/proxy/passThrough.ts";
import { legacyPaths } from "../../../transforms/legacyInterface.ts";
import { settled } from "../../support/waiting.ts";
import { expectHealthy, get, openProxy, rawUpstream, request, send } from "./support.ts";

const healthyAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nhealthy";
const file = "/data/v1/download/61/iris.arff";

/** A proxy over one connection, whose upstream writes these parts, one after the other, and then what `ends`. */
const open = async (
  parts: readonly (string | Buffer)[],
  settings: Parameters<typeof openProxy>[1],
  ends?: "end" | "resetAndDestroy",
) => {
  const writeParts = async (socket: Socket): Promise<void> => {
    for (const part of parts) {
      socket.write(part);
      await settled();
    }
    if (ends) socket[ends]();
  };
  const { origin } = await rawUpstream((socket, head) => {
    if (head.startsWith("GET /healthy")) socket.write(healthyAnswer);
    else void writeParts(socket);
  });
  return openProxy(origin, { connections: 1, ...settings });
};

describe("another answer in place of an upstream's", () => {
  const [head, chunk] = ["HTTP/1.1 502 Bad\r\nTransfer-Encoding: chunked\r\nSet-Cookie: a=b\r\n\r\n", "2\r\nab\r\n"];
  const cases: [string, string[]][] = [
    ["whole", [`${head}${chunk}0\r\n\r\n`]],
    ["without a body", ["HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n"]],
    ["that goes on", [head, chunk, chunk, chunk]],
    ["without an end", [head, ...Array.from({ length: 20 }, () => chunk)]],
  ];
  /** Answers 200 in place of other statuses, after a while or at once. */
  const substituteFor =
    (isLate: boolean): NonNullable<Parameters<typeof openProxy>[1]>["substituteFor"] =>
    (_, res, target) => {
      if (target === "/healthy") return undefined;
      const substitute: Substitute = async (answer) => {
        if (isLate) await settled();
        if (answer?.status === 200) return false;
        const text = `for ${answer?.status}`;
        sendReply(res, { status: 200, headers: ["Content-Length", String(text.length)], body: Buffer.from(text) });
        return true;
      };
      return substitute;
    };

  test.each(cases.flatMap(([name, parts]) => [true, false].map((isLate) => [name, parts, isLate] as const)))(
    "the other answer goes out alone where the upstream's is %s",
    async (_, parts, isLate) => {
      const proxy = await open(parts, { substituteFor: substituteFor(isLate) });
      const { head: given, body } = await send(proxy.port, get("/list"));
      expect([given.split("\r\n", 1)[0], body]).toEqual(["HTTP/1.1 200 OK", "for 502"]);
      expect(given).not.toMatch(/set-cookie/i);
      await expectHealthy(proxy);
      expect(proxy.events).toEqual([]);
    },
  );

  test("an answer that is not replaced is the upstream's, byte for byte", async () => {
    const answer = "HTTP/1.1 200 Fine\r\nX-A: b\r\nContent-Length: 4\r\n\r\n";
    const proxy = await open([answer, "ab", "cd"], { substituteFor: substituteFor(true) });
    const { head: given, body } = await send(proxy.port, get("/list"));
    expect([given.split("\r\n")[0], body]).toEqual(["HTTP/1.1 200 Fine", "abcd"]);
    expect(given).toMatch(/\r\nX-A: b(\r\n|$)/);
    await expectHealthy(proxy);
  });

  test.each([["resetAndDestroy" as const], ["end" as const]])(
    "where the upstream gives no answer (%s), the other one is sent",
    async (ends) => {
      const proxy = await open([], { substituteFor: substituteFor(true) }, ends);
      expect((await send(proxy.port, get("/list"))).body).toBe("for undefined");
      await expectHealthy(proxy);
    },
  );

  test("a body that breaks after its head was sent is broken for the client too", async () => {
    const parts = ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"];
    const proxy = await open(parts, { substituteFor: substituteFor(false) }, "resetAndDestroy");
    expect((await send(proxy.port, get("/list"))).text).not.toContain("for");
    await expectHealthy(proxy);
  });

  test("an exception in a substitute fails only its request", async () => {
    const proxy = await open([`${head}${chunk}0\r\n\r\n`], {
      substituteFor: (_, __, target) =>
        target === "/healthy" ? undefined : () => Promise.reject(new TypeError("a fault")),
    });
    expect((await send(proxy.port, get("/list"))).head).toMatch(/^HTTP\/1\.1 500 /);
    await expectHealthy(proxy);
  });
});

describe("a data file", () => {
  const text = "Database connection error. Usually due to high server load. Please wait N seconds and try again. ";
  const answerOf = (body: string | Buffer, ...headers: string[]) =>
    Buffer.concat([
      Buffer.from(
        [
          "HTTP/1.1 200 OK",
          "Set-Cookie: ci_session=a",
          `Content-Length: ${Buffer.byteLength(body)}`,
          ...headers,
          "\r\n",
        ].join("\r\n"),
      ),
      Buffer.from(body),
    ]);
  const html = "Content-Type: text/html; charset=UTF-8";
  const substituteFor = dataFileSubstitutes(legacyPaths.files, { mayPass: () => true });

  test.each([
    ["as it is", answerOf(text, html)],
    ["coded", answerOf(gzipSync(text), html, "Content-Encoding: gzip")],
  ])("a data file that is legacy's database error (%s) is 503, not to be stored", async (_, answer) => {
    const proxy = await open([answer], { substituteFor });
    const { head, body } = await send(proxy.port, get(file));
    expect(head).toMatch(/^HTTP\/1\.1 503 [^]*\r\nRetry-After: 5(\r\n|$)/);
    expect([body, /set-cookie/i.test(head)]).toEqual(["", false]);
    await expectHealthy(proxy);
  });

  test.each([
    ["is data", get(file), answerOf("@relation iris", "Content-Type: text/plain")],
    ["is a long page", get(file), answerOf(text.padEnd(1025), html)],
    ["lies elsewhere", get("/d/61"), answerOf(text, html)],
    ["is posted", request(`POST ${file}`, "Content-Length: 0"), answerOf(text, html)],
  ])("an answer that %s passes as it is", async (_, asked, answer) => {
    const proxy = await open([answer], { substituteFor });
    const { head, body } = await send(proxy.port, asked);
    expect(head).toMatch(/^HTTP\/1\.1 200 [^]*Set-Cookie/);
    expect(answer.toString("latin1").endsWith(`\r\n\r\n${body}`)).toBe(true);
    await expectHealthy(proxy);
  });
});
