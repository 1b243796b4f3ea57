import { expect, test } from "vitest";
import { MAX_INTERIM_ANSWERS } from "../../../src/gateway/upstream/upstreamRequest.ts";
import { expectHealthy, get, healthy, openProxy, rawUpstream, request, send } from "./support.ts";

const secret = "SECRETKEY";

/** The beginning of an upload. */
const uploading = (path: string) => `${request(`POST ${path}`, "Content-Length: 10")}half`;

/** An upstream that answers /healthy well and anything else by `nasty`. */
const nastyUpstream = (nasty: Parameters<typeof rawUpstream>[0]): ReturnType<typeof rawUpstream> =>
  rawUpstream((socket, text, number) => {
    if (text.startsWith("GET /healthy ")) socket.write(healthy);
    else nasty(socket, text, number);
  });

test.each([
  ["100", "HTTP/1.1 100 Continue\r\n\r\n"],
  ["103 with Connection: close", "HTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\n"],
])("an unrequested interim answer %s hides the answer behind it, as its event says", async (interim, bytes) => {
  const { origin } = await nastyUpstream((socket) => socket.write(bytes + healthy));
  const gateway = await openProxy(origin);
  const { text } = await send(gateway.port, request("POST /write", "Content-Length: 1"), "x");
  expect(text).toMatch(/^HTTP\/1\.1 502 /m);
  const why = expect.stringContaining(
    `(no answer can be read behind an interim one, ${interim}): POST /write`,
  ) as unknown;
  expect(gateway.events).toMatchObject([{ kind: "broken", why }]);
  await expectHealthy(gateway);
});

const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf";
const sized = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
test.each([
  ["a body without a length", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf", "1.1", "resetAndDestroy"],
  ["a chunked body to an HTTP/1.0 client", chunked, "1.0", "end"],
  ["a body with a length to an HTTP/1.0 client", sized, "1.0", "end"],
] as const)("%s that breaks off never ends cleanly", async (_, text, http, ending) => {
  const { origin } = await nastyUpstream((socket) => socket.write(text, () => setTimeout(() => socket[ending](), 100)));
  const gateway = await openProxy(origin);
  const { head, body, reset } = await send(gateway.port, `GET /cut?api_key=${secret} HTTP/${http}\r\nHost: a\r\n\r\n`);
  expect(head).toMatch(/^HTTP\/1\.1 200 /);
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? -1);
  const looksWhole = length === -1 ? !/chunked/i.test(head) || body.endsWith("0\r\n\r\n") : body.length === length;
  expect(looksWhole && !reset).toBe(false);
  expect(gateway.events).toMatchObject([{ kind: "broken", path: "/cut" }]);
  await expectHealthy(gateway);
});

test("as many interim answers as are allowed come before the answer", async () => {
  const { origin } = await nastyUpstream((socket) =>
    socket.write(`${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(MAX_INTERIM_ANSWERS)}${healthy}`),
  );
  const gateway = await openProxy(origin);
  const { text } = await send(gateway.port, get("/hints"));
  expect(text).toMatch(/HTTP\/1\.1 200 OK[^]*healthy$/);
  await expectHealthy(gateway);
});

test.each([
  ["an upstream that does not answer: 504", "", get, 504, "The upstream took too long.", "timeout"],
  ["an upstream that falls silent in mid-body: the connection is cut", sized, get, 200, "half", "timeout"],
  ["an upload that stops coming: 408", "", uploading, 408, "The request's body stopped coming.", "slowClient"],
] as const)("%s", async (_, answer, asking, status, said, kind) => {
  const { origin, requests } = await nastyUpstream((socket) => socket.write(answer));
  const gateway = await openProxy(origin, { headersTimeout: 300, bodyTimeout: 300 });
  const { head, body } = await send(gateway.port, asking("/slow"));
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(body).toBe(status === 200 ? said : JSON.stringify({ detail: said }));
  expect(requests.length).toBe(status === 408 ? 0 : 1);
  expect(gateway.events).toMatchObject([{ kind, path: "/slow" }]);
  await expectHealthy(gateway);
});

test("a key in the query is in no event and no answer of ours", async () => {
  const { origin } = await nastyUpstream((socket, text) => socket.end(`garbage ${text}`));
  const gateway = await openProxy(origin);
  const answers = [
    await send(gateway.port, get(`/a?api_key=${secret}`)),
    await send(gateway.port, get(`http://${secret}@host.example/a?api_key=${secret}`)),
    await send(gateway.port, get(`/a#?api_key=${secret}`, "Host: twice")),
    await send(gateway.port, request(`POST /a?api_key=${secret}`, "Content-Length: 1"), "x"),
  ];
  expect(gateway.events).toHaveLength(2);
  for (const { text } of answers) expect(text).not.toContain(secret);
  expect(JSON.stringify(gateway.events)).not.toContain(secret);
});

test("an error in the listener of failures is a 500, and its place is freed", async () => {
  const { origin } = await nastyUpstream((socket) => socket.destroy());
  const failed = (): never => {
    throw new TypeError("planted");
  };
  const health = { answered: () => {}, failed, certified: () => {}, certificateExpiry: () => undefined };
  const gateway = await openProxy(origin, { health });
  expect((await send(gateway.port, get("/nasty"))).head).toMatch(/^HTTP\/1\.1 500 /);
  expect(gateway.events).toEqual([{ fault: expect.objectContaining({ message: "planted" }) as Error }]);
  await expectHealthy(gateway);
});
