import { type Attack, type Context, allHold } from "../lib/attack.ts";
import { type AskOptions, ask } from "../lib/client.ts";
import { catalogueLegacy } from "../lib/catalogueLegacy.ts";
import { sleep } from "../../support/waiting.ts";

const reads = ["/v1/datasets/61", "/v1/datasets/62", "/v1/datasets/list"];
const windows = JSON.stringify({
  getDataset: { fresh: "1s", staleWhileRevalidate: "1s", staleIfError: "7d" },
  listDatasets: { fresh: "1s", staleWhileRevalidate: "1s", staleIfError: "1h" },
});

const form = { "Content-Type": "application/x-www-form-urlencoded" };
const json = { "Content-Type": "application/json" };
type Write = [path: string, options: AskOptions];
const writes: Record<string, Write> = {
  "a tag with an invented key": [
    "/v1/datasets/tag",
    { method: "POST", headers: { ...json, "X-API-Key": "nobodyknowsthiskey" }, body: '{"data_id":61,"tag":"x"}' },
  ],
  "a proxied write without a key": ["/api/v1/json/data/tag", { method: "POST", headers: { "Content-Length": "0" } }],
  "a proxied write with an invented key": [
    "/api/v1/json/data/tag",
    { method: "POST", headers: form, body: "data_id=61&tag=x&api_key=nobody" },
  ],
  "a proxied write with an invented cookie": [
    "/api/v1/json/data",
    { method: "POST", headers: { ...form, Cookie: "ci_session=x" }, body: "did=61" },
  ],
  "a proxied deletion with an invented key": ["/api/v1/json/data/61?api_key=nobody", { method: "DELETE" }],
};

export const outageAndWrite: Attack = {
  name: "outage-and-a-write",
  what: "While legacy is down, writes that cannot have reached it take away what stale-if-error would serve.",
  async run(context) {
    const tried = await Promise.all(
      Object.entries(writes).map(async ([name, write]) => ({ name, ...(await duringAnOutage(context, write)) })),
    );
    return [
      allHold(
        "gateways that serve stale answers while legacy is down",
        tried.map(({ name, before }) => ({ name, holds: before })),
      ),
      allHold(
        "writes after which they still do",
        tried.map(({ name, after }) => ({ name, holds: after })),
      ),
    ];
  },
};

/** Whether all reads are served while legacy is down, before the write and after it. */
const duringAnOutage = async (context: Context, [path, options]: Write) => {
  const upstream = await catalogueLegacy(context);
  const { port } = await context.startGateway({ LEGACY_URL: upstream.url, CACHE_LIFETIMES: windows });
  const areServed = async () => {
    const answers = await Promise.all(reads.map((read) => ask(port, read)));
    return answers.every(({ status }) => status === 200);
  };
  await areServed();
  await sleep(2500);
  upstream.close();
  await sleep(100);
  const before = await areServed();
  await ask(port, path, options);
  return { before, after: await areServed() };
};
