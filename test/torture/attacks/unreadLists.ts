import { connect } from "node:net";
import type { ServerResponse } from "node:http";
import { type Attack, atMost, holds } from "../lib/attack.ts";
import { ask } from "../lib/client.ts";
import { datasetList } from "../fuzz/legacy.ts";
import { holdsWithin, until } from "../../support/waiting.ts";

const CLIENTS = 100;
const ROWS = 8700;
const MEASURES = '{"evaluation_measures":{"measures":{"measure":"kappa"}}}';

/** Lists that legacy sends at a time. */
const AT_ONCE = 2;
/** All requests reach legacy, and wait there for as long as it takes. */
const patience = { MAX_CONNECTIONS: String(CLIENTS), HEADERS_TIMEOUT_MS: "600000", TOTAL_TIMEOUT_MS: "600000" };

/** MiB beyond those of an idle gateway: while the clients stay, and two minutes after they left. */
const MAX_STAYING = 400;
const MAX_LEFT = 120;
const LEFT_MS = 120_000;

export const unreadLists: Attack = {
  name: "unreadLists",
  what: `${CLIENTS} clients each ask for a list of 5 MB of its own, read nothing of it, and leave.`,
  async run({ startGateway, openUpstream, onEnd }) {
    const rows = Array.from({ length: ROWS }, (_, index) => ({ id: index + 1, name: `dataset_${index + 1}` }));
    const qualities = Array.from({ length: 11 }, (_, index) => `NumberOfFeaturesOfKind${index}`);
    const list = Buffer.from(datasetList(false, rows, qualities).body);
    const statuses: string[] = [];
    // Lists come as fast as threads read them, whatever else the machine does: it is what clients have not
    // taken that fills the memory.
    const waiting: ServerResponse[] = [];
    let sent = 0;
    const sendLists = () => {
      for (; sent < statuses.length + AT_ONCE && waiting.length > 0; sent++) waiting.shift()?.end(list);
    };
    const upstream = await openUpstream(({ url }, response) => {
      if (url.includes("measure")) response.end(MEASURES);
      else if (waiting.push(response) > 0) sendLists();
    });
    // As `npm start` starts it: glibc gives back freed memory, and young objects take little.
    const started = { MALLOC_MMAP_THRESHOLD_: "1048576", NODE_OPTIONS: "--max-semi-space-size=8" };
    const gateway = await startGateway({ LEGACY_URL: upstream.url, ...patience, ...started });
    const isWell = async () => (await ask(gateway.port, "/v1/evaluationmeasures/list")).status === 200;
    await isWell();
    const idle = gateway.resident();
    const sockets = Array.from({ length: CLIENTS }, (_, index) => {
      const socket = connect({ port: gateway.port, host: "127.0.0.1" }).on("error", () => undefined);
      onEnd(() => socket.destroy());
      // A paused socket takes what the system and one buffer of Node's have room for.
      socket.once("readable", () => {
        statuses.push(String(socket.read(12)).slice(-3));
        sendLists();
      });
      socket.write(`GET /v1/data/list/limit/10000/offset/${index + 1} HTTP/1.1\r\nHost: h\r\n\r\n`);
      return socket;
    });
    let staying = 0;
    await until(() => {
      staying = Math.max(staying, gateway.resident() - idle);
      return statuses.length === CLIENTS;
    }, 300_000);
    const wellMeanwhile = await isWell();
    for (const socket of sockets) socket.destroy();
    await holdsWithin(() => gateway.resident() - idle <= MAX_LEFT, LEFT_MS);
    const count = (wanted: string) => statuses.filter((status) => status === wanted).length;
    return [
      atMost("memory while they stay, beyond that of an idle gateway", staying, MAX_STAYING, "MiB"),
      atMost("memory two minutes after they left", gateway.resident() - idle, MAX_LEFT, "MiB"),
      holds(
        "lists",
        `${count("200")} sent, ${count("503")} refused`,
        `${CLIENTS}, no other answer`,
        count("200") + count("503") === CLIENTS,
      ),
      holds("a small answer meanwhile", wellMeanwhile ? "200" : "none", "200", wellMeanwhile),
    ];
  },
};
