import { type Attack, atMost, holds } from "../lib/attack.ts";
import { ask, openSocket } from "../lib/client.ts";
import { sleep } from "../../support/waiting.ts";

const UPLOADS = 96;
/** What a GET may take while uploads drip, in ms. */
const BOUND = 2000;

export const drippingUploads: Attack = {
  name: "dripping-uploads",
  what: "96 uploads that send one byte each now and then, without a key; others must be answered meanwhile.",
  async run({ startGateway, openUpstream, progress }) {
    const upstream = await openUpstream(({ url }, response) =>
      response.end(url.includes("measure") ? '{"evaluation_measures":{"measures":{"measure":"kappa"}}}' : "{}"),
    );
    const { port, isAlive } = await startGateway({ LEGACY_URL: upstream.url, WAIT_TIMEOUT_MS: "5000" });
    await ask(port, "/proxied");
    const uploads = Array.from({ length: UPLOADS }, (_, index) => {
      const socket = openSocket(port);
      // Both framings, and one half with as much at once as a small body has.
      const framing =
        index % 2 === 0 ? "Content-Length: 1000000000\r\n\r\nx" : "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n";
      socket.write(`POST /api/v1/json/data HTTP/1.1\r\nHost: a\r\n${framing}`);
      if (index % 4 === 0) socket.write("x".repeat(70_000));
      return socket;
    });
    const drip = setInterval(() => {
      for (const [index, socket] of uploads.entries())
        if (socket.writable) socket.write(index % 2 === 0 ? "x" : "1\r\nx\r\n");
    }, 500);
    let longest = 0;
    let ours = 0;
    const statuses = new Map<number, number>();
    // Seven seconds: the limits that are seconds long are reached meanwhile.
    for (let i = 0; i < 14; i++) {
      progress(`GET ${i + 1} of 14`);
      const [proxied, own] = await Promise.all([
        ask(port, "/proxied", { limit: 10_000 }),
        ask(port, "/v1/evaluationmeasures/list", { limit: 10_000 }),
      ]);
      longest = Math.max(longest, proxied.ms);
      ours = Math.max(ours, own.ms);
      statuses.set(proxied.status, (statuses.get(proxied.status) ?? 0) + 1);
      await sleep(300);
      if (proxied.status === 0) break;
    }
    clearInterval(drip);
    for (const socket of uploads) socket.destroy();
    await sleep(500);
    const after = await ask(port, "/proxied", { limit: 3000 });
    const counts = [...statuses].map(([status, count]) => `${count} x ${status || "no answer"}`).join(", ");
    return [
      atMost("longest wait of a proxied GET", longest, BOUND, "ms"),
      holds("their answers", counts, "all 200", statuses.size === 1 && statuses.has(200)),
      atMost("longest wait for the new interface", ours, BOUND, "ms"),
      holds("a GET after the uploads have left", String(after.status), "200", after.status === 200 && isAlive()),
    ];
  },
};
