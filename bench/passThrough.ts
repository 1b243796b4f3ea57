import { createHash } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { datasetBody } from "./bodies.ts";
import { load } from "./load.ts";
import type { BenchOptions } from "./options.ts";
import { startNginx } from "./peers/nginx.ts";
import { cpuMicroseconds, isInstalled, start, stopAll } from "./processes.ts";
import { median, shuffled, spread } from "./statistics.ts";

type Contender = { name: string; url: string; pid: number; cpu: number[]; perSecond: number[] };

const PROXY_CORE = 0;
const UPSTREAM_CORE = 1;
const path = "/api/v1/json/data/301";

/** A contender that is a program of Node's. */
const node = async (name: string, file: string, env: Record<string, string>): Promise<Contender> => {
  const { child, line } = await start(PROXY_CORE, [process.execPath, file], /http:\/\/127\.0\.0\.1:\d+/, env);
  return { name, url: line, pid: child.pid as number, cpu: [], perSecond: [] };
};

const startUpstream = async (body: Buffer): Promise<string> => {
  if (isInstalled("nginx")) return (await startNginx(UPSTREAM_CORE, { body })).url;
  const file = join(mkdtempSync(join(tmpdir(), "bench-stub-")), "body");
  writeFileSync(file, body);
  return (
    await start(UPSTREAM_CORE, [process.execPath, "bench/peers/stub.js"], /http:\/\/127\.0\.0\.1:\d+/, { BODY: file })
  ).line;
};

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** What is measured has to be the right answer. */
const assertAnswer = async ({ name, url }: Contender, body: Buffer): Promise<void> => {
  const response = await fetch(url + path);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200 || sha256(bytes) !== sha256(body))
    throw new Error(`${name} answered ${response.status} and ${bytes.length} other bytes`);
};

const leftOut = (what: string) => console.log(`LEFT OUT: ${what}`);

/** CPU per request and throughput of pass-through on one core, against the peers that are there. */
export const benchPassThrough = async ({ rounds, seconds }: BenchOptions): Promise<void> => {
  if (!isInstalled("taskset")) leftOut("taskset is not installed: nothing is pinned to a core, the ratios say less");
  if (!isInstalled("wrk"))
    leftOut("wrk is not installed: a load generator of Node's stands in, the throughputs are its own");
  const body = datasetBody();
  const upstream = await startUpstream(body);
  const contenders = [
    await node("gateway", "src/main.ts", { LEGACY_URL: upstream, PORT: "0", ADMIN_PORT: "0" }),
    await node("http-proxy", "bench/peers/httpProxy.js", { UPSTREAM: upstream }),
    await node("hono/proxy", "bench/peers/honoProxy.js", { UPSTREAM: upstream }),
  ];
  if (isInstalled("nginx"))
    contenders.push({ name: "nginx", ...(await startNginx(PROXY_CORE, { upstream })), cpu: [], perSecond: [] });
  else leftOut("nginx is not installed: no ratio to it");

  for (const contender of contenders) await load(contender.url + path, 1);
  for (let round = 0; round < rounds; round++) {
    if (process.stdout.isTTY) process.stdout.write(`\rround ${round + 1} of ${rounds}`);
    for (const contender of shuffled(contenders)) {
      await assertAnswer(contender, body);
      const before = cpuMicroseconds(contender.pid);
      const { requests, perSecond } = await load(contender.url + path, seconds);
      contender.cpu.push((cpuMicroseconds(contender.pid) - before) / requests);
      contender.perSecond.push(perSecond);
    }
  }
  if (process.stdout.isTTY) process.stdout.write("\r");
  report(contenders, body.length);
  stopAll();
};

const aims: Record<string, string> = { nginx: " (aim: 0.27 or more)", "hono/proxy": " (aim: 3 or more)" };

const report = (contenders: Contender[], bytes: number): void => {
  console.log(
    `pass-through of ${(bytes / 1000).toFixed(1)} KB, 64 connections, medians of ${contenders[0]?.cpu.length} rounds [range]`,
  );
  for (const { name, cpu, perSecond } of contenders)
    console.log(`  ${name.padEnd(10)} ${spread(cpu)} us CPU a request, ${spread(perSecond)} requests a second`);
  const [gateway, ...peers] = contenders;
  for (const peer of peers) {
    const ratios = (gateway?.perSecond ?? []).map((value, i) => value / (peer.perSecond[i] as number));
    console.log(
      `  gateway against ${peer.name}: throughput ${spread(ratios)}${aims[peer.name] ?? ""}, CPU ${(median(gateway?.cpu ?? []) / median(peer.cpu)).toFixed(2)}`,
    );
  }
};
