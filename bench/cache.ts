import { ask, askUntilAnswered } from "./ask.ts";
import { SERVER_CORE, UPSTREAM_CORE } from "./cores.ts";
import { datasetBody, listBody } from "./bodies.ts";
import { startGateway } from "./gateway.ts";
import { leftOut, reportMissingTools } from "./leftOut.ts";
import { startBare } from "./peers/fixedAnswer.ts";
import { startNginx } from "./peers/nginx.ts";
import { startVarnish } from "./peers/varnish.ts";
import { isInstalled, stop, stopAll } from "./processes.ts";
import { type BenchOptions, type Contender, race, reportRace } from "./race.ts";

/** Starts a gateway that has cached this answer, stops its legacy, and returns the bytes of a hit. */
const startFilled = async (legacy: Buffer, path: string) => {
  const upstream = await startBare(UPSTREAM_CORE, legacy);
  // All hits stay fresh during the race.
  const lifetimes = { getDataset: { fresh: "1d" }, listDatasets: { fresh: "1d" } };
  const { url, pid, counted } = await startGateway(SERVER_CORE, upstream.url, {
    CACHE_LIFETIMES: JSON.stringify(lifetimes),
  });
  await ask(url + path);
  await stop(upstream.child);
  const { flat, headers, bytes, status } = await ask(url + path);
  if (status !== 200 || !String(headers["cache-status"]).includes("; hit; ttl="))
    throw new Error(`${path} answered ${status}, ${String(headers["cache-status"])}: no hit`);
  // Headers that servers add themselves.
  const own = new Set(["connection", "date", "keep-alive"]);
  const sent = flat.filter((_, i) => !own.has((flat[i - (i % 2)] as string).toLowerCase()));
  const ours = {
    url: url + path,
    pid,
    status: 200,
    body: bytes,
    counted: () => counted("catalog_gateway_cache_answers_total", '"hit"'),
  };
  return { ours, body: bytes, sent, tag: String(headers["etag"]) };
};

/** Starts the caches that are installed. Each has cached this answer, and its upstream is stopped. */
const startCaches = async (body: Buffer, sent: string[]): Promise<Contender[]> => {
  const origin = await startBare(UPSTREAM_CORE, body, sent);
  const caches: { name: string; url: string; pid: number }[] = [];
  if (isInstalled("nginx"))
    caches.push({
      name: "nginx proxy_cache",
      ...(await startNginx(SERVER_CORE, { upstream: origin.url, isCached: true })),
    });
  else leftOut("nginx is not installed: no ratio to its proxy_cache");
  if (isInstalled("varnishd")) caches.push({ name: "varnish", ...(await startVarnish(SERVER_CORE, origin.url)) });
  else leftOut("varnish is not installed: no ratio to it");
  for (const { url } of caches) await askUntilAnswered(url);
  await stop(origin.child);
  return caches.map((cache) => ({ ...cache, status: 200, body }));
};

const benchDataset = async (options: BenchOptions): Promise<void> => {
  const { ours, body, sent, tag } = await startFilled(datasetBody(), "/v1/datasets/301");
  const two = ["Content-Type", "application/json", "Content-Length", String(body.length)];
  const right = { status: 200, body };
  const laps = await race(
    [
      { ...ours, name: "hit" },
      { ...ours, name: "304", headers: { "If-None-Match": tag }, status: 304, body: Buffer.alloc(0) },
      { name: "bare node:http", ...(await startBare(SERVER_CORE, body, sent)), ...right },
      { name: "bare, two headers", ...(await startBare(SERVER_CORE, body, two)), ...right },
      {
        name: "bare, optimized",
        ...(await startBare(SERVER_CORE, body, sent, { optimizeEmptyRequests: true })),
        ...right,
      },
      ...(await startCaches(body, sent)),
    ],
    options,
  );
  reportRace(`hits of ${(body.length / 1000).toFixed(1)} KB under ${sent.length / 2} headers`, laps, [
    ["hit", "bare node:http", { throughput: "0.95 or more" }],
    ["hit", "bare, two headers"],
    ["hit", "bare, optimized"],
    ["hit", "varnish", { throughput: "1.2 or more" }],
    ["hit", "nginx proxy_cache", { throughput: "0.7 or more" }],
    ["304", "bare node:http", { throughput: "1.05 or more" }],
  ]);
  stopAll();
};

const benchList = async (options: BenchOptions): Promise<void> => {
  const { ours, body, sent } = await startFilled(listBody(340), "/v1/data/list/limit/340");
  const br = { "Accept-Encoding": "br" };
  // The first hit that accepts an encoding compresses the body.
  let encoded = await ask(ours.url, br);
  while (encoded.headers["content-encoding"] !== "br") encoded = await ask(ours.url, br);
  const { bytes } = encoded;
  const laps = await race(
    [
      { ...ours, name: "list in br", headers: br },
      { ...ours, name: "list" },
      { name: "bare list", ...(await startBare(SERVER_CORE, body, sent)), status: 200, body },
    ],
    options,
  );
  reportRace(`hits of ${(body.length / 1000).toFixed(0)} KB, ${(bytes.length / 1000).toFixed(1)} KB in br`, laps, [
    ["list in br", "bare list", { throughput: "2 or more" }],
    ["list", "bare list", { throughput: "0.95 or more" }],
  ]);
  stopAll();
};

/** Compares hits from memory with servers of a fixed answer, and with other caches, on one core. */
export const benchCache = async (options: BenchOptions): Promise<void> => {
  reportMissingTools();
  await benchDataset(options);
  await benchList(options);
};
