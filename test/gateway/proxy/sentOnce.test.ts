import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { expectHealthy, healthy, openProxy, rawUpstream, request, send } from "./support.ts";

/** Counts what arrives under /counted; the first answer keeps its connection, each later one does `nasty` to it. */
const stale = (nasty: (socket: Socket, attempt: number) => void): ReturnType<typeof rawUpstream> => {
  let attempt = 0;
  return rawUpstream((socket, text) => {
    if (text.includes(" /counted")) nasty(socket, ++attempt);
    else socket.write(healthy);
  });
};

const partial: Record<string, string> = {
  partial: "HTTP/1.1 200 O",
  "one byte": "H",
  interim: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
};

const counted = (requests: string[]): number => requests.filter((text) => text.includes(" /counted")).length;

test.each([
  { method: "GET", body: "", nasty: "reset", times: 2, status: 200 },
  { method: "HEAD", body: "", nasty: "reset", times: 2, status: 200 },
  { method: "GET", body: "", nasty: "close", times: 2, status: 200 },
  { method: "GET", body: "", nasty: "partial", times: 1, status: 502 },
  { method: "GET", body: "", nasty: "interim", times: 1, status: 502 },
  { method: "GET", body: "x", nasty: "reset", times: 1, status: 502 },
  { method: "POST", body: "x", nasty: "reset", times: 1, status: 502 },
  { method: "POST", body: "", nasty: "reset", times: 1, status: 502 },
  { method: "DELETE", body: "", nasty: "reset", times: 1, status: 502 },
  { method: "OPTIONS", body: "", nasty: "close", times: 1, status: 502 },
])(
  "$method with body '$body' on a connection that ends by $nasty is sent $times x",
  async ({ method, body, nasty, times, status }) => {
    const { origin, requests, connections } = await stale((socket, attempt) => {
      if (attempt === 2) socket.write(method === "HEAD" ? "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n" : healthy);
      else if (nasty === "reset") socket.resetAndDestroy();
      else if (nasty === "close") socket.end();
      else socket.end(partial[nasty] ?? "");
    });
    const gateway = await openProxy(origin);
    await expectHealthy(gateway);
    const length = body === "" ? [] : [`Content-Length: ${body.length}`];
    const { text } = await send(gateway.port, request(`${method} /counted`, ...length), body);
    expect(text).toMatch(new RegExp(`HTTP/1.1 ${status} `));
    expect(counted(requests)).toBe(times);
    // The first request did go on the connection that was open already.
    expect(connections()).toBe(times);
    expect(gateway.events).toHaveLength(status === 200 ? 0 : 1);
    await expectHealthy(gateway);
  },
);

test("many POSTs that wait for one unsound connection arrive once each", async () => {
  const { origin, requests } = await stale((socket, attempt) => {
    if (attempt % 2 === 1) socket.resetAndDestroy();
    else socket.write(healthy);
  });
  const gateway = await openProxy(origin, { connections: 2 });
  const all = Array.from({ length: 20 }, (_, i) =>
    send(gateway.port, request(`POST /counted/${i}`, "Content-Length: 1"), "x"),
  );
  const statuses = (await Promise.all(all)).map(({ head }) => head.slice(9, 12));
  expect(statuses.filter((status) => status === "502")).toHaveLength(10);
  expect(new Set(requests.map((text) => text.split(" ")[1])).size).toBe(20);
  expect(counted(requests)).toBe(20);
  await expectHealthy(gateway);
});
