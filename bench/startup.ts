import { temporaryFolder } from "../test/support/temporaryFolder.ts";
import { gatewayCommand } from "./gateway.ts";
import { cpuMicroseconds, residentMegabytes, start, stop } from "./processes.ts";
import { median, spread } from "./statistics.ts";

const STARTS = 6;
const listening = /http:\/\/127\.0\.0\.1:\d+/;

const bare = `const s = require("node:http").createServer((q, r) => r.end("x")).listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + s.address().port)); process.on("SIGTERM", () => process.exit(0));`;

const once = async (command: string[], env: Record<string, string>) => {
  const started = performance.now();
  const { child, line } = await start(0, command, listening, env);
  const took = performance.now() - started;
  const cpu = cpuMicroseconds(child.pid as number) / 1000;
  const idle = residentMegabytes(child.pid as number);
  const response = await fetch(`${line}/v1/datasets/61`);
  await response.arrayBuffer();
  const used = residentMegabytes(child.pid as number);
  const code = await stop(child);
  if (!response.ok || code !== 0)
    throw new Error(`${command.join(" ")}: answered ${response.status}, ended with ${code}`);
  return { took, cpu, idle, used };
};

/** Measures the time until the gateway listens, with the sample legacy, and its processor time and memory then. */
export const benchStartup = async (): Promise<void> => {
  const cache = temporaryFolder();
  const ours: Awaited<ReturnType<typeof once>>[] = [];
  const peer: typeof ours = [];
  for (let i = 0; i <= STARTS; i++) {
    ours.push(await once(gatewayCommand, { PORT: "0", ADMIN_PORT: "0", NODE_COMPILE_CACHE: cache }));
    peer.push(await once([process.execPath, "-e", bare], {}));
  }
  const [first, ...later] = ours;
  const valuesOf = (key: "took" | "cpu" | "idle" | "used", runs: typeof ours) => runs.map((run) => run[key]);
  console.log(
    `start-up: first ${first?.took.toFixed(0)} ms, later ${spread(valuesOf("took", later))} ms; bare node:http ${spread(valuesOf("took", peer))} ms; ratio ${(median(valuesOf("took", later)) / median(valuesOf("took", peer))).toFixed(2)} (aim: 5.5 at most)`,
  );
  console.log(
    `processor: ${spread(valuesOf("cpu", later))} ms; bare node:http ${spread(valuesOf("cpu", peer))} ms; ratio ${(median(valuesOf("cpu", later)) / median(valuesOf("cpu", peer))).toFixed(2)}`,
  );
  console.log(
    `memory: ${spread(valuesOf("idle", later))} MB after the start, ${spread(valuesOf("used", later))} MB after a request (aim: 120 MB at most); bare node:http ${spread(valuesOf("used", peer))} MB`,
  );
};
