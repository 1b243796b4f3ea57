import { type Attack, type Check, atMost, holds } from "../lib/attack.ts";
import { ask, openSocket } from "../lib/client.ts";
import { sleep } from "../../support/waiting.ts";

const PROBE = "/v1/evaluationmeasures/list";
const headers = (count: number, value: string) =>
  Array.from({ length: count }, (_, i) => `${i.toString(36)}:${value}\r\n`).join("");

/** Of more headers than are allowed (Node itself allows 1,000), and the largest that is allowed. */
const heads = { "of 900 headers": headers(900, "b"), "of 16 KiB": headers(98, "b".repeat(155)) };

/** MiB for nine heads on each of 60 connections, or one on each of 1,000. */
const BOUND = 100;

/** What each connection sends, and how many there are. */
const modes: Record<string, { connections: number; bytes: (head: string) => string }> = {
  "behind an answer that does not come": {
    connections: 60,
    bytes: (head) =>
      `GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${`GET ${PROBE} HTTP/1.1\r\nHost: a\r\n${head}\r\n`.repeat(280)}`,
  },
  "of bodies that do not come": {
    connections: 1000,
    bytes: (head) => `POST /v1/datasets/list HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n${head}\r\n{`,
  },
};

export const pipelinedHeads: Attack = {
  name: "pipelined-heads",
  what: "Connections on which large heads wait: 280 behind one request, or the head of a body that does not come.",
  async run({ startGateway, openUpstream }) {
    const upstream = await openUpstream(({ url }, response) => {
      if (!url.includes("slow")) response.end('{"evaluation_measures":{"measures":{"measure":"kappa"}}}');
    });
    const checks: Check[] = [];
    for (const [place, { connections, bytes }] of Object.entries(modes))
      for (const [kind, head] of Object.entries(heads)) {
        const { port, resident, processorTime, isAlive, stop } = await startGateway({ LEGACY_URL: upstream.url });
        await ask(port, PROBE);
        const start = resident();
        const sockets = [];
        for (let i = 0; i < connections; i++) {
          const socket = openSocket(port);
          socket.write(bytes(head));
          sockets.push(socket);
          if (i % 20 === 0) await sleep(10);
        }
        let peak = 0;
        // Until it has read what it takes.
        for (let used = -1; isAlive() && processorTime() > used + 0.1;) {
          used = processorTime();
          await sleep(2000);
          if (!isAlive()) break;
          peak = Math.max(peak, resident());
        }
        const { status } = await ask(port, PROBE);
        for (const socket of sockets) socket.destroy();
        checks.push(
          atMost(`memory of heads ${kind} ${place}`, peak - start, BOUND, "MiB"),
          holds("another caller meanwhile", String(status), "200", status === 200),
        );
        await stop();
      }
    return checks;
  },
};
