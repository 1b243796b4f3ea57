import { parseArgs } from "node:util";
import { isInstalled } from "../../bench/processes.ts";
import { freePort } from "../support/freePort.ts";
import { sleep, until } from "../support/waiting.ts";
import { killPrograms, type Program, startProgram } from "../torture/lib/program.ts";
import { openProgress } from "../torture/report.ts";
import { type Ports, startBalancers, startRedis, stopBalancers } from "./balancers.ts";
import { openLegacy, startLoad, type Tally } from "./load.ts";

const usage = `npm run check:restarts -- [options]

Restarts two gateways one after the other, again and again, behind a real HAProxy that checks /readyz and never repeats a request, and behind a
real nginx with its defaults, which finds out by failures. Both gateways share a real Redis. Clients send hits, misses, proxied requests and POSTs all the time. No request may fail.

  --rounds N   rolling restarts, of both gateways each: 1 to 1000 (default: 20, about 10 minutes)
  --delay MS   DRAIN_DELAY_MS of the gateways: 0 to 60000 (default: 5000). With 0 requests do fail
  --help

Exit code: 0 no request failed, 1 one did, 2 it could not run (haproxy, nginx and redis-server must be installed).`;

/** Milliseconds for which nginx leaves a gateway alone after a failure, by default (it counts whole seconds), and some more. */
const FAIL_TIMEOUT = 12_500;
/** Milliseconds until HAProxy uses a gateway that is ready again: two checks, and some more. */
const RISE = 3500;

type Options = { rounds: number; delay: number };

/** Stops a gateway, if it runs, and starts it again at the same ports. Rejects if it did not end with 0. */
const restart = async (
  { port, adminPort }: Ports,
  settings: Record<string, string>,
  running?: Program,
): Promise<Program> => {
  if (running) {
    const ended = new Promise<number | null>((resolve) => void running.child.once("exit", resolve));
    running.child.kill("SIGTERM");
    const code = await ended;
    if (code !== 0) throw new Error(`a gateway ended with ${code}: ${running.log()}`);
  }
  const program = await startProgram({
    ...settings,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
  });
  await until(async () => (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status === 200);
  return program;
};

const print = (tallies: readonly Tally[]): boolean => {
  for (const { balancer, kind, sent, failures } of tallies) {
    console.log(
      `${balancer.padEnd(36)} ${kind.padEnd(14)} ${String(sent).padStart(8)} sent, ${failures.length} failed`,
    );
    for (const failure of failures.slice(0, 5)) console.log(`    ${failure}`);
  }
  const [sent, failed] = [
    tallies.reduce((sum, one) => sum + one.sent, 0),
    tallies.reduce((sum, one) => sum + one.failures.length, 0),
  ];
  console.log(`\n${sent} requests, ${failed} failed.`);
  return failed === 0 && tallies.every((one) => one.sent > 0);
};

const run = async ({ rounds, delay }: Options): Promise<boolean> => {
  const legacy = await openLegacy();
  const settings = { LEGACY_URL: legacy.url, DRAIN_DELAY_MS: String(delay), REDIS_URL: await startRedis() };
  const places: Ports[] = [];
  for (let i = 0; i < 2; i++) places.push({ port: await freePort(), adminPort: await freePort() });
  const programs: Program[] = [];
  for (const place of places) programs.push(await restart(place, settings));
  const { balancers, problems } = await startBalancers(places);
  await sleep(RISE);
  const load = startLoad(balancers);
  const progress = openProgress(process.stdout, "restarts");
  const total = rounds * places.length;
  for (let done = 0; done < total; done++) {
    const failed = load.tallies.reduce((sum, one) => sum + one.failures.length, 0);
    const sent = load.tallies.reduce((sum, one) => sum + one.sent, 0);
    progress.say(`${done} of ${total} restarts, ${sent} requests, ${failed} failed`);
    const i = done % places.length;
    programs[i] = await restart(places[i] as Ports, settings, programs[i]);
    // The port of the next one closes after the delay: until then both balancers must use this one again.
    await sleep(Math.max(RISE, FAIL_TIMEOUT - delay));
  }
  progress.end();
  await load.stop();
  legacy.close();
  console.log(`${total} restarts of ${places.length} gateways, one at a time, DRAIN_DELAY_MS=${delay}\n`);
  const isWhole = print(load.tallies);
  if (!isWhole) for (const line of problems().slice(0, 10)) console.log(line);
  return isWhole;
};

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(2));
process.on("exit", () => {
  killPrograms();
  stopBalancers();
});

const read = (): Options | "help" | { error: string } => {
  let values: Record<keyof Options, string> & { help: boolean };
  try {
    ({ values } = parseArgs({
      options: {
        rounds: { type: "string", default: "20" },
        delay: { type: "string", default: "5000" },
        help: { type: "boolean", default: false },
      },
    }));
  } catch (error) {
    return { error: (error as Error).message };
  }
  if (values.help) return "help";
  const wrong = (
    [
      ["rounds", 1, 1000],
      ["delay", 0, 60_000],
    ] as const
  ).find(
    ([name, least, most]) =>
      !/^\d{1,5}$/.test(values[name]) || Number(values[name]) < least || Number(values[name]) > most,
  );
  if (wrong === undefined) return { rounds: Number(values.rounds), delay: Number(values.delay) };
  const [name, least, most] = wrong;
  return { error: `--${name}: ${JSON.stringify(values[name])} given; allowed is an integer from ${least} to ${most}` };
};

const options = read();
const missing = ["haproxy", "nginx", "redis-server"].filter((program) => !isInstalled(program));
if (options === "help") console.log(usage);
else if ("error" in options) {
  console.error(`${options.error}\n\n${usage}`);
  process.exitCode = 2;
} else if (missing.length > 0) {
  console.error(`${missing.join(" and ")} must be installed`);
  process.exitCode = 2;
} else {
  const isWhole = await run(options).catch((error: unknown) => {
    console.error(error);
    return undefined;
  });
  process.exit(isWhole === undefined ? 2 : Number(!isWhole));
}
