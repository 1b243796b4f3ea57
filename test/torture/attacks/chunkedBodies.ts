import { type Attack, atMost, holds } from "../lib/attack.ts";
import { ask, openSocket } from "../lib/client.ts";
import { sleep } from "../../support/waiting.ts";

const CONNECTIONS = 60;
const SECONDS = 8;
/** All that may come in bodies at a time (64 MiB), and the heap's slack. */
const BOUND = 150;
/** Bytes a second in all (10 Mbit/s): what counts is memory, not how fast chunks can be read. */
const RATE = 1_200_000;
const CHUNKS = Buffer.from("1\r\n \r\n".repeat(1000));

export const chunkedBodies: Attack = {
  name: "chunked-bodies",
  what: "60 connections send JSON bodies in chunks of one byte, without a key and without an end.",
  async run({ startGateway, openUpstream }) {
    const upstream = await openUpstream((_, response) =>
      response.end('{"evaluation_measures":{"measures":{"measure":"kappa"}}}'),
    );
    const { port, resident, isAlive } = await startGateway({ LEGACY_URL: upstream.url });
    const probe = "/v1/evaluationmeasures/list";
    await ask(port, probe);
    const start = resident();
    const sockets = Array.from({ length: CONNECTIONS }, () => {
      const socket = openSocket(port);
      socket.write("POST /v1/datasets/list HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
      return socket;
    });
    let peak = 0;
    let sent = 0;
    while (sent < SECONDS * RATE && isAlive()) {
      for (const socket of sockets) if (socket.writable) socket.write(CHUNKS);
      sent += CONNECTIONS * CHUNKS.length;
      peak = Math.max(peak, resident());
      await sleep((1000 * CONNECTIONS * CHUNKS.length) / RATE);
    }
    for (const socket of sockets) socket.destroy();
    const { status } = await ask(port, probe);
    return [
      atMost("memory that the bodies take", peak - start, BOUND, "MiB"),
      holds("another caller afterwards", String(status), "200", status === 200 && isAlive()),
    ];
  },
};
