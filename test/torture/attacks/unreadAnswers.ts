import type { Socket } from "node:net";
import { type Attack, atMost, holds } from "../lib/attack.ts";
import { listOfLongNames } from "../lib/bigAnswers.ts";
import { ask, openSocket } from "../lib/client.ts";
import { holdsWithin, sleep } from "../../support/waiting.ts";

const CONNECTIONS = 120;
/** The gateway may hold 64 MiB for clients (MAX_SEND_BYTES below); the rest is what the answers are made of, and the heap's slack. */
const BOUND = 300;
const BACK = 150;

export const unreadAnswers: Attack = {
  name: "unread-answers",
  what: "Connections that ask for long lists and read nothing, on the new interface, proxied, and on the operators' listener.",
  async run({ startGateway, openUpstream, progress }) {
    const list = Buffer.from(listOfLongNames());
    const upstream = await openUpstream((_, response) => response.end(list));
    const gateway = await startGateway({
      LEGACY_URL: upstream.url,
      SEND_TIMEOUT_MS: "1000",
      MAX_SEND_BYTES: String(64 * 1024 ** 2),
      BODY_TIMEOUT_MS: "5000",
    });
    const { port, resident, openFiles, isAlive } = gateway;
    await ask(port, "/v1/data/list/limit/10000");
    await sleep(500);
    const start = { resident: resident(), files: openFiles() };
    const targets = (index: number) =>
      index % 3 === 2 ? `/proxied/${index}` : `/v1/data/list/limit/10000/offset/${index}`;
    const sockets: Socket[] = [];
    let mostFiles = 0;
    let peak = 0;
    const began = performance.now();
    // One after another: what is measured is answers that wait, not answers that are made at the same time.
    for (let index = 0; index < CONNECTIONS && isAlive(); index++) {
      const socket = openSocket(port, { isPaused: true });
      socket.write(`GET ${targets(index)} HTTP/1.1\r\nHost: a\r\nCache-Control: no-store\r\n\r\n`);
      sockets.push(socket);
      await sleep(150);
      peak = Math.max(peak, resident());
      mostFiles = Math.max(mostFiles, openFiles());
    }
    // Until the gateway has closed them all, at most 60 s.
    const areClosed = await holdsWithin(() => {
      peak = Math.max(peak, resident());
      progress(`${openFiles() - start.files} connections held, ${resident().toFixed(0)} MiB`);
      return !isAlive() || openFiles() <= start.files + 8;
    }, 60_000);
    const seconds = (performance.now() - began) / 1000;
    for (const socket of sockets) socket.destroy();
    const isBack = async () => {
      for (let i = 0; i < 3; i++) await ask(port, `/v1/data/list/limit/10000/offset/${500 + i}`, { limit: 5000 });
      return resident() <= start.resident + BACK;
    };
    await holdsWithin(isBack, 20_000);
    return [
      atMost("memory while nothing is read, above the start", peak - start.resident, BOUND, "MiB"),
      holds(
        "connections that read nothing",
        areClosed ? `closed after ${seconds.toFixed(0)} s` : "still open after 60 s",
        "opened, and closed",
        mostFiles > start.files + 8 && areClosed && isAlive(),
      ),
      atMost("memory afterwards, above the start", resident() - start.resident, BACK, "MiB"),
      holds("the process", isAlive() ? "alive" : "ended", "alive", isAlive()),
    ];
  },
};
