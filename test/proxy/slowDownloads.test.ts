import { type Socket, connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type GatewaySettings, expectHealthy, get, httpUpstream, openGateway, send } from "./support.ts";
import { until } from "../support/waiting.ts";

const MIB = 1024 ** 2;
const SIZE = 32 * MIB;
const part = Buffer.alloc(MIB);

/** An upstream with a large `/file`; it tells how many of them are being sent. */
const files = async () => {
  let open = 0;
  const origin = await httpUpstream((req, res) => {
    if (req.url === "/healthy") {
      res.end("healthy");
      return;
    }
    open++;
    res.on("close", () => open--);
    res.writeHead(200, { "Content-Length": SIZE });
    let sent = 0;
    const more = (): void => {
      while (sent < SIZE) {
        sent += MIB;
        if (!res.write(part)) {
          res.once("drain", more);
          return;
        }
      }
      res.end();
    };
    more();
  });
  return { origin, open: () => open };
};

type Reader = { socket: Socket; bytes: () => number; isOpen: () => boolean };

/** Asks for a file and reads none of it until its socket is resumed. */
const reader = (port: number): Reader => {
  let bytes = 0;
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  socket.on("data", (chunk) => (bytes += chunk.length)).pause();
  socket.write(get("/file"));
  onTestFinished(() => void socket.destroy());
  return { socket, bytes: () => bytes, isOpen: () => !socket.closed };
};

const open = async (settings: GatewaySettings) => {
  const upstream = await files();
  const gateway = await openGateway(upstream.origin, { bodyTimeout: 60_000, ...settings });
  const readers = (count: number): Reader[] => Array.from({ length: count }, () => reader(gateway.port));
  return { ...upstream, gateway, readers };
};

test("while slow downloads would take all places, a GET is answered, and none is cut", async () => {
  const { gateway, readers, open: sending } = await open({ connections: 4, slowConnections: 4, waitTimeout: 60_000 });
  const slow = readers(8);
  await until(() => sending() === 8);
  expect(gateway.events).toEqual([]);
  await until(() => gateway.upstream.semaphore.aside === 4);
  for (const { socket } of slow) socket.resume();
  await until(() => slow.every(({ isOpen }) => !isOpen()));
  expect(slow.every(({ bytes }) => bytes() > SIZE)).toBe(true);
  await expectHealthy(gateway);
});

test("a GET that finds slow downloads in every place ends the one that stalls", async () => {
  const { gateway, readers } = await open({ connections: 2, slowConnections: 2, waitTimeout: 60_000 });
  const [first] = readers(1);
  await until(() => gateway.upstream.semaphore.aside === 1);
  const rest = readers(3);
  await until(() => gateway.upstream.semaphore.aside === 2 && gateway.upstream.semaphore.slow === 2);
  expect((await send(gateway.port, get("/healthy"))).body).toBe("healthy");
  expect(gateway.events).toMatchObject([{ kind: "slowClient", path: "/file" }]);
  for (const each of [first, ...rest]) each?.socket.resume();
  await until(() => [first, ...rest].every((each) => each?.isOpen() === false));
  expect(first?.bytes()).toBeLessThan(SIZE);
  expect(rest.every(({ bytes }) => bytes() > SIZE)).toBe(true);
  await expectHealthy(gateway);
});

test("more slow readers than connections leave a bounded number of places for a GET", async () => {
  const { gateway, readers } = await open({ connections: 4, slowConnections: 4 });
  readers(30);
  let most = 0;
  // The upstream hears of a connection's end later than the pool.
  const looking = setInterval(() => (most = Math.max(most, gateway.upstream.pool.stats.connected)), 5);
  onTestFinished(() => clearInterval(looking));
  for (let i = 0; i < 10; i++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect((await send(gateway.port, get("/healthy"))).body).toBe("healthy");
  }
  expect(most).toBeGreaterThan(4);
  expect(most).toBeLessThanOrEqual(8);
  expect(new Set(gateway.events.map(({ kind }) => kind))).toEqual(new Set(["slowClient"]));
});
