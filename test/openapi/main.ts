import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { conform, type ConformResult } from "./conform.ts";

const usage = `npm run conform -- [options]

Sends generated requests, valid and invalid ones, for every operation of <prefix>/openapi.json to the real program in front of the sample
legacy. Every status, header, type and shape of an answer has to stand in the document.

  --requests N   how many requests, at least one an operation (default: 5000; at most 10000000)
  --seed S       a number from 0 to 4294967295: the same seed sends the same requests (default: another one at each run; it is printed)
  --help

Exit code: 0 the document says everything, 1 it does not, 2 it could not run.`;

const numberOf = (name: string, text: string | undefined, byDefault: number, most: number): number => {
  if (text === undefined) return byDefault;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= most) return value;
  throw new Error(`--${name}: ${JSON.stringify(text)} given; allowed is a number up to ${most}`);
};

const startProgram = async () => {
  const child = spawn(process.execPath, ["src/main.ts"], {
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      ADMIN_PORT: "0",
      DRAIN_DELAY_MS: "0",
      ACCESS_LOG: "off",
      LOG_LEVEL: "error",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.on("exit", () => child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const origin = /http:\/\/[\d.:]+/.exec(line.toString())?.[0];
  if (origin === undefined) throw new Error(`The gateway did not start: ${line.toString()}`);
  return origin;
};

const report = ({ sent, statuses, findings }: ConformResult): void => {
  console.log("\n| operation | answers by status |\n| --- | --- |");
  for (const [operation, counts] of Object.entries(statuses))
    console.log(
      `| ${operation} | ${Object.entries(counts)
        .map(([status, count]) => `${status}: ${count}`)
        .join(", ")} |`,
    );
  for (const { operation, what, request, count } of findings)
    console.log(`\n${operation}: ${what} (${count} times)\n  ${request.slice(0, 1000)}`);
  console.log(
    `\n${sent} requests; ${findings.length === 0 ? "the document says everything" : `${findings.length} findings`}.`,
  );
};

const run = async (): Promise<number> => {
  const { values } = parseArgs({
    options: { requests: { type: "string" }, seed: { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help === true) {
    console.log(usage);
    return 0;
  }
  const requests = Math.max(1, numberOf("requests", values.requests, 5000, 10_000_000));
  const seed = numberOf("seed", values.seed, Math.floor(Math.random() * 2 ** 32), 2 ** 32 - 1);
  console.log(`seed ${seed}, ${requests} requests`);
  const origin = await startProgram();
  const document = await (await fetch(`${origin}/v1/openapi.json`)).text();
  const every = process.stdout.isTTY ? 100 : 10_000;
  let next = performance.now() + every;
  const result = await conform({
    origin,
    document,
    prefix: "/v1",
    credentials: {
      known: [
        "00000000000000000000000000000000",
        "33333333333333333333333333333333",
        "AD000000000000000000000000000000",
      ],
      unknown: "aBcD0123456789aBcD0123456789aBcD",
    },
    requests,
    seed,
    onProgress(sent) {
      if (performance.now() < next) return;
      next = performance.now() + every;
      process.stdout.write(process.stdout.isTTY ? `\r\u001B[K${sent} of ${requests}` : `${sent} of ${requests}\n`);
    },
  });
  report(result);
  if (result.findings.length > 0)
    console.log(`The same again: npm run conform -- --seed ${seed} --requests ${requests}`);
  return result.findings.length === 0 ? 0 : 1;
};

try {
  process.exitCode = await run();
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`);
  process.exitCode = 2;
}
process.exit();
