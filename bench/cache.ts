import { createHash } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { datasetBody, listBody } from "./bodies.ts";
import { load } from "./load.ts";
import type { BenchOptions } from "./options.ts";
import { startNginx } from "./peers/nginx.ts";
import { startVarnish } from "./peers/varnish.ts";
import { cpuMicroseconds, isInstalled, start, stopAll } from "./processes.ts";
import { median, shuffled, spread } from "./statistics.ts";

/** `told`: what has to stand in an answer's Cache-Status, where it is ours. */
type Contender = {
  name: string;
  url: string;
  pid: number;
  headers?: Record<string, string>;
  status?: number;
  told?: RegExp;
  cpu: number[];
  perSecond: number[];
};

const SERVER_CORE = 0;
const UPSTREAM_CORE = 1;

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const address = /http:\/\/127\.0\.0\.1:\d+/;

const file = (content: Buffer): string => {
  const path = join(mkdtempSync(join(tmpdir(), "bench-body-")), "body");
  writeFileSync(path, content);
  return path;
};

const serveBytes = async (core: number, body: Buffer, headers: string[], options = {}) => {
  const env = { BODY: file(body), HEADERS: JSON.stringify(headers), OPTIONS: JSON.stringify(options) };
  const { child, line } = await start(core, [process.execPath, "bench/peers/bare.js"], address, env);
  return { url: line, pid: child.pid as number };
};

/** What is measured has to be the right answer, made the right way. */
const check = async ({ name, url, headers = {}, status = 200, told }: Contender, body: Buffer): Promise<void> => {
  // Not fetch: it asks for no-cache by itself where there is a condition, and decodes what it gets.
  const { request } = await import("undici");
  const answer = await request(url, { headers });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  const plain =
    answer.headers["content-encoding"] === "br" ? (await import("node:zlib")).brotliDecompressSync(bytes) : bytes;
  const right = answer.statusCode === status && (status === 304 || sha256(plain) === sha256(body));
  const how = String(answer.headers["cache-status"] ?? "");
  if (!right || (told && !told.test(how)))
    throw new Error(`${name} answered ${answer.statusCode}, ${bytes.length} bytes, ${how}`);
};

const measure = async (contenders: Contender[], body: Buffer, { rounds, seconds }: BenchOptions): Promise<void> => {
  for (const { url, headers } of contenders) await load(url, 1, headers);
  for (let round = 0; round < rounds; round++) {
    if (process.stdout.isTTY) process.stdout.write(`\rround ${round + 1} of ${rounds}`);
    for (const contender of shuffled(contenders)) {
      await check(contender, body);
      const before = cpuMicroseconds(contender.pid);
      const { requests, perSecond } = await load(contender.url, seconds, contender.headers);
      contender.cpu.push((cpuMicroseconds(contender.pid) - before) / requests);
      contender.perSecond.push(perSecond);
      await check(contender, body);
    }
  }
  if (process.stdout.isTTY) process.stdout.write("\r");
};

const report = (title: string, contenders: Contender[], pairs: [string, string, string][]): void => {
  console.log(title);
  for (const { name, cpu, perSecond } of contenders)
    console.log(`  ${name.padEnd(22)} ${spread(cpu)} us CPU a request, ${spread(perSecond)} requests a second`);
  for (const [ours, peer, aim] of pairs) {
    const [a, b] = [ours, peer].map((name) => contenders.find((one) => one.name === name));
    if (!a || !b) continue;
    const ratios = a.perSecond.map((value, i) => value / (b.perSecond[i] as number));
    console.log(
      `  ${ours} against ${peer}: throughput ${spread(ratios)}${aim}, CPU ${(median(a.cpu) / median(b.cpu)).toFixed(2)}`,
    );
  }
};

const leftOut = (what: string) => console.log(`LEFT OUT: ${what}`);

/** A gateway over an upstream that answers everything with these bytes. */
const startGateway = async (legacy: Buffer) => {
  const upstream = await serveBytes(UPSTREAM_CORE, legacy, ["Content-Type", "application/json"]);
  const env = { LEGACY_URL: upstream.url, PORT: "0", ADMIN_PORT: "0", LOG_LEVEL: "error" };
  const { child, line } = await start(SERVER_CORE, [process.execPath, "src/main.ts"], address, env);
  return { url: line, pid: child.pid as number };
};

/** What a hit sends, for others to send the same. */
const hitOf = async (url: string): Promise<{ body: Buffer; headers: string[]; tag: string }> => {
  await fetch(url);
  const response = await fetch(url, { headers: { "Accept-Encoding": "identity" } });
  const own = new Set(["connection", "date", "keep-alive"]);
  const headers = [...response.headers].filter(([name]) => !own.has(name)).flat();
  return { body: Buffer.from(await response.arrayBuffer()), headers, tag: response.headers.get("etag") ?? "" };
};

/** Hits from memory against servers that have nothing to look up, and against other caches, on one core. */
export const benchCache = async (options: BenchOptions): Promise<void> => {
  const gateway = await startGateway(datasetBody());
  const url = `${gateway.url}/v1/datasets/301`;
  const { body, headers, tag } = await hitOf(url);
  const none = { cpu: [], perSecond: [] };
  const contender = (about: Omit<Contender, "cpu" | "perSecond">): Contender => ({
    ...about,
    ...structuredClone(none),
  });
  const two = ["Content-Type", "application/json", "Content-Length", String(body.length)];
  const told = /; hit; /;
  const contenders = [
    contender({ name: "hit", ...gateway, url, told }),
    contender({ name: "304", ...gateway, url, told, headers: { "If-None-Match": tag }, status: 304 }),
    contender({ name: "bare node:http", ...(await serveBytes(SERVER_CORE, body, headers)) }),
    contender({ name: "bare, two headers", ...(await serveBytes(SERVER_CORE, body, two)) }),
    contender({
      name: "bare, optimized",
      ...(await serveBytes(SERVER_CORE, body, headers, { optimizeEmptyRequests: true })),
    }),
  ];
  const origin = await serveBytes(UPSTREAM_CORE, body, [
    ...two,
    "Cache-Control",
    "public, max-age=3600",
    "ETag",
    '"x"',
  ]);
  if (isInstalled("nginx"))
    contenders.push(
      contender({ name: "nginx proxy_cache", ...(await startNginx(SERVER_CORE, { cached: origin.url })) }),
    );
  else leftOut("nginx is not installed: no ratio to its proxy_cache");
  if (isInstalled("varnishd"))
    contenders.push(contender({ name: "varnish", ...(await startVarnish(SERVER_CORE, origin.url)) }));
  else leftOut("varnish is not installed: no ratio to it");
  await measure(contenders, body, options);
  report(
    `hits of ${(body.length / 1000).toFixed(1)} KB, 64 connections, medians of ${options.rounds} rounds [range]`,
    contenders,
    [
      ["hit", "bare node:http", " (aim: 0.95 or more)"],
      ["hit", "bare, two headers", ""],
      ["hit", "bare, optimized", ""],
      ["hit", "varnish", " (aim: 1.1 or more)"],
      ["hit", "nginx proxy_cache", " (aim: 0.5 or more)"],
      ["304", "bare node:http", ""],
    ],
  );
  stopAll();

  const lists = await startGateway(listBody());
  const listUrl = `${lists.url}/v1/data/list/limit/300`;
  const list = await hitOf(listUrl);
  const large = [
    contender({ name: "list in br", ...lists, url: listUrl, told, headers: { "Accept-Encoding": "br" } }),
    contender({ name: "list", ...lists, url: listUrl, told }),
    contender({ name: "bare list", ...(await serveBytes(SERVER_CORE, list.body, list.headers)) }),
  ];
  await measure(large, list.body, options);
  report(`hits of ${(list.body.length / 1000).toFixed(0)} KB`, large, [
    ["list in br", "bare list", " (aim: 2 or more)"],
    ["list", "bare list", ""],
  ]);
  stopAll();
};
