// oxlint-disable unicorn/require-post-message-target-origin -- a thread has no origin
import { Agent } from "node:http";
import { parentPort, workerData } from "node:worker_threads";
import { ask } from "./client.ts";
import { sleep } from "../../support/waiting.ts";

// The thread behind `watchWaits`.
const { port, path } = workerData as { port: number; path: string };
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const watch = { isOver: false };
let longest = 0;
parentPort?.once("message", () => (watch.isOver = true));
await ask(port, path, { agent });
parentPort?.postMessage("begun");
while (!watch.isOver) {
  const { ms } = await ask(port, path, { agent });
  longest = Math.max(longest, ms);
  await sleep(2);
}
agent.destroy();
parentPort?.postMessage(longest);
