import { type Attack, atMost, holds } from "../lib/attack.ts";
import { ask, inParallel } from "../lib/client.ts";

const REQUESTS = 3000;

export const stuckLog: Attack = {
  name: "stuck-log",
  what: "The reader of the log has stopped reading, while a failing upstream makes the gateway log.",
  async run({ startGateway, openRawUpstream, progress }) {
    const upstream = await openRawUpstream((socket) => socket.resetAndDestroy());
    const gateway = await startGateway({ LEGACY_URL: upstream.url, LOG_LEVEL: "debug" }, { readsLog: false });
    const start = gateway.resident();
    let unanswered = 0;
    let longest = 0;
    await inParallel(REQUESTS, 8, async (index) => {
      if (unanswered > 8) return;
      const path = index % 2 === 0 ? `/x/${index}/${"a".repeat(8000)}` : `/v1/datasets/${index + 1}`;
      const { status, ms } = await ask(gateway.port, path, { limit: 3000 });
      if (status === 0) unanswered++;
      longest = Math.max(longest, ms);
      progress(`${index} of ${REQUESTS} requests`);
    });
    const health = await ask(gateway.adminPort, "/healthz", { limit: 2000 });
    const grown = gateway.resident() - start;
    const code = await gateway.stop();
    return [
      atMost("requests without an answer", unanswered, 0),
      atMost("longest wait", longest, 1500, "ms"),
      atMost("memory that it adds", grown, 150, "MiB"),
      holds("/healthz", String(health.status), "200", health.status === 200),
      holds("exit code at SIGTERM", String(code), "0", code === 0),
    ];
  },
};
