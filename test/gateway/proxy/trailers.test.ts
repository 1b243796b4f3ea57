import { describe, expect, test } from "vitest";
import { openConnection } from "../answer/support.ts";
import { openProxy, rawUpstream, request, send } from "./support.ts";

describe("an answer's trailers", () => {
  test.each(["Connection: close", "connection: X-A, close", "Transfer-Encoding: gzip", "X-A: b"])(
    "the next request is answered, behind the trailer %j",
    async (trailer) => {
      const { origin, requests } = await rawUpstream((socket) =>
        socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n${trailer}\r\n\r\n`),
      );
      const { port } = await openProxy(origin, { connections: 1 });
      for (let i = 0; i < 4; i++)
        expect((await send(port, request("POST /", "Content-Length: 0"))).text).toMatch(
          /^HTTP\/1.1 200 [^]*\r\nok\r\n/,
        );
      expect(requests).toHaveLength(4);
    },
  );

  test("an answer behind another trailer keeps its connection", async () => {
    const { origin, connections } = await rawUpstream((socket) =>
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-A: b\r\n\r\n"),
    );
    const { port } = await openProxy(origin, { connections: 1 });
    for (let i = 0; i < 4; i++) await send(port, request("GET /"));
    expect(connections()).toBe(1);
  });
});

test.each(["Connection: close", "connection: X-A, close"])(
  "a request's trailer %j ends its connection behind the answer, which says so",
  async (trailer) => {
    const { origin } = await rawUpstream((socket) => socket.write("HTTP/1.1 204 No Content\r\n\r\n"));
    const { port } = await openProxy(origin);
    const client = openConnection(port);
    client.socket.write(
      `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n${trailer}\r\n\r\n`,
    );
    await client.closed;
    expect(client.text()).toMatch(/^HTTP\/1.1 204 [^]*\r\nConnection: close\r\n/);
  },
);
