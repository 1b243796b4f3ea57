import { type Attack, allHold } from "../lib/attack.ts";
import { ask, openSocket } from "../lib/client.ts";
import { catalogueLegacy } from "../lib/catalogueLegacy.ts";
import { sleep } from "../../support/waiting.ts";

const reads = ["/v1/datasets/61", "/v1/datasets/list"];

/** `method path`, and bytes of a body that never ends where there are any. */
const writes: [request: string, unfinished?: string][] = [
  ["POST /api/v1/json/data", "x"],
  ["POST /api/v1/json/data/tag", "x"],
  ["POST /api/v1/json/data/!", undefined],
  ["POST /api/v1/json/data/tag/!x", undefined],
  ["POST /api/v1/json/data/*", undefined],
  ["POST /api/v1/json/data/1<", undefined],
  ["POST /api/v1/json/data/a%2Fb", undefined],
  ["POST /api/v1/../data/61", undefined],
  ["POST /data/61", undefined],
  ["POST /nowhere/data", undefined],
  ["DELETE /data/61", undefined],
  ["PUT /x/data/9", undefined],
  ["POST /api/v1/xml/data/tag", undefined],
  ["POST /api/v1/json/data/tag", undefined],
];

export const emptiedCache: Attack = {
  name: "emptied-cache",
  what: "Writes without a right to: no key, an unfinished body, a path outside of legacy's interface, an HTML error.",
  async run(context) {
    const { startGateway } = context;
    const upstream = await catalogueLegacy(context);
    const start = () => startGateway({ LEGACY_URL: upstream.url });
    let gateway = await start();
    const isHit = async (path: string) =>
      String((await ask(gateway.port, path)).headers["cache-status"]).includes("; hit");
    const cases: { name: string; holds: boolean }[] = [];
    for (const [request, unfinished] of writes) {
      await Promise.all(reads.map((path) => ask(gateway.port, path)));
      await send(gateway.port, request, unfinished);
      const hits = await Promise.all(reads.map(isHit));
      cases.push({ name: unfinished === undefined ? request : `${request} (unfinished)`, holds: hits.every(Boolean) });
      if (hits.every(Boolean)) continue;
      // A write whose end is not known keeps answers out of the cache for half a minute.
      await gateway.stop();
      gateway = await start();
    }
    return [allHold("writes after which the dataset and the list are still hits", cases), await control(gateway.port)];
  },
};

const send = async (port: number, request: string, unfinished: string | undefined): Promise<void> => {
  const [method = "POST", path = "/"] = request.split(" ");
  if (unfinished === undefined) {
    await ask(port, path, { method, headers: { "Content-Length": "0" } });
    return;
  }
  const socket = openSocket(port);
  socket.write(`${request} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n${unfinished}`);
  await sleep(150);
  socket.destroy();
  await sleep(100);
};

/** A write that legacy accepts does invalidate. Otherwise the check above would pass with a cache that invalidates nothing. */
const control = async (port: number) => {
  await ask(port, "/v1/datasets/61");
  const body = "data_id=61&tag=x&api_key=aaaa0000000000000000000000000001";
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  await ask(port, "/api/v1/json/data/tag", { method: "POST", headers, body });
  const after = String((await ask(port, "/v1/datasets/61")).headers["cache-status"]);
  return {
    what: "a write with a key that legacy accepts",
    measured: after,
    bound: "no hit",
    holds: !after.includes("; hit"),
  };
};
