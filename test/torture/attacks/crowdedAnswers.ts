import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { type Attack, atMost, holds } from "../lib/attack.ts";
import { listOfLongNames } from "../lib/bigAnswers.ts";
import { ask, openSocket, watchWaits } from "../lib/client.ts";
import { holdsWithin, sleep } from "../../support/waiting.ts";

const LISTS = 80;
const DOWNLOADS = 40;
/** MAX_SEND_BYTES below, MAX_REPLIES_BYTES and READER_QUEUE_BYTES by default, and 150 MiB for each of two threads: all above the start, in MiB. */
const BOUND = 64 + 256 + 128 + 2 * 150;
const BACK = 150;
const HEAP = 400;

const hashOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("base64");

export const crowdedAnswers: Attack = {
  name: "crowded-answers",
  what: "80 clients ask for lists of 16 MB at the same time and 40 for proxied downloads, and none of them reads.",
  async run({ startGateway, openUpstream, progress }) {
    const list = Buffer.from(listOfLongNames());
    const upstream = await openUpstream(({ url }, response) =>
      url.includes("measure")
        ? response.end('{"evaluation_measures":{"measures":{"measure":"kappa"}}}')
        : response.end(list),
    );
    const settings = {
      LEGACY_URL: upstream.url,
      SEND_TIMEOUT_MS: "1000",
      MAX_SEND_BYTES: String(64 * 1024 ** 2),
      BODY_TIMEOUT_MS: "5000",
      TOTAL_TIMEOUT_MS: "30000",
      // As `npm start` sets it.
      MALLOC_MMAP_THRESHOLD_: String(1024 ** 2),
    };
    const gateway = await startGateway(settings, { nodeArguments: [`--max-old-space-size=${HEAP}`] });
    const { port, adminPort, resident, openFiles, isAlive } = gateway;
    const probe = "/v1/evaluationmeasures/list";
    const listed = (offset: number) => `/v1/data/list/limit/10000/offset/${offset}`;
    const right = hashOf((await ask(port, listed(0))).body);
    await ask(port, probe);
    await sleep(500);
    const start = { resident: resident(), files: openFiles() };
    const waits = await watchWaits(port, probe);
    const sockets: Socket[] = [];
    const begun: string[] = [];
    for (let index = 0; index < LISTS + DOWNLOADS; index++) {
      const socket = openSocket(port, { isPaused: true });
      // The first bytes alone: a status, where an answer begins.
      socket.once("readable", () => {
        begun.push((socket.read(Math.min(12, socket.readableLength)) as Buffer | null)?.toString() ?? "");
      });
      const target = index % 3 === 2 ? `/proxied/${index}` : listed(index);
      socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nCache-Control: no-store\r\n\r\n`);
      sockets.push(socket);
    }
    const unsentBytes = async () =>
      Number(
        /^catalog_gateway_unsent_bytes (\d+)$/m.exec((await ask(adminPort, "/metrics")).body.toString())?.[1] ??
          Number.NaN,
      );
    let peak = 0;
    let mostFiles = 0;
    const watched = { odd: 0, count: 0 };
    const areClosed = await holdsWithin(async () => {
      peak = Math.max(peak, resident());
      mostFiles = Math.max(mostFiles, openFiles());
      progress(`${openFiles() - start.files} files held, ${resident().toFixed(0)} MiB`);
      watched.count++;
      // Another caller, who reads, meanwhile: a right list, or 503.
      if (watched.count % 20 === 0) {
        const { status, body } = await ask(port, listed(1000 + watched.count), { limit: 20_000 });
        if (!(status === 200 && hashOf(body) === right) && status !== 503 && status !== 504) watched.odd++;
      }
      // Connections with small answers stay open.
      return !isAlive() || (watched.count > 100 && (await unsentBytes()) === 0);
    }, 60_000);
    const longest = isAlive() ? await waits.stop() : Number.NaN;
    for (const socket of sockets) socket.destroy();
    for (let i = 0; i < 3; i++) await ask(port, listed(500 + i), { limit: 20_000 });
    // Threads that read large answers end after a minute without one.
    await holdsWithin(() => resident() <= start.resident + BACK, 75_000);
    const back = resident() - start.resident;
    const after = await ask(port, listed(1));
    const odd = begun.filter((text) => !/^HTTP\/1\.1 (200|503|504)$/.test(text));
    return [
      atMost("memory while nothing is read, above the start", peak - start.resident, BOUND, "MiB"),
      holds("answers begun", `${begun.length}, ${odd.length} odd`, "each 200, 503 or 504", odd.length === 0),
      holds("lists of a caller who reads", `${watched.odd} wrong`, "none", watched.odd === 0),
      holds(
        "bytes for connections that read nothing",
        areClosed ? "given up" : "still there after 60 s",
        "given up",
        mostFiles > start.files + 8 && areClosed && isAlive(),
      ),
      atMost("longest wait of a caller with a cached answer", longest, 1000, "ms"),
      atMost("memory afterwards, above the start", back, BACK, "MiB"),
      holds("a list afterwards", `${after.status}`, "200", after.status === 200 && hashOf(after.body) === right),
      holds("the process", isAlive() ? "alive" : "ended", "alive", isAlive()),
    ];
  },
};
