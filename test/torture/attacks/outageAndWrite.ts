import { type Attack, allHold, holds } from "../lib/attack.ts";
import { ask, sleep } from "../lib/client.ts";
import { catalogueLegacy } from "../lib/catalogueLegacy.ts";

const reads = ["/v1/datasets/61", "/v1/datasets/62", "/v1/datasets/list"];
const windows = JSON.stringify({
  getDataset: { fresh: "1s", stale: "1s", staleIfError: "7d" },
  listDatasets: { fresh: "1s", stale: "1s", staleIfError: "1h" },
});

export const outageAndWrite: Attack = {
  name: "outage-and-a-write",
  what: "While legacy is down, writes that cannot have reached it take away what stale-if-error would serve.",
  async run(context) {
    const upstream = await catalogueLegacy(context);
    const { port } = await context.startGateway({ LEGACY_URL: upstream.url, CACHE_WINDOWS: windows });
    const areServed = async () => {
      const answers = await Promise.all(reads.map((path) => ask(port, path)));
      return answers.every(({ status }) => status === 200);
    };
    await areServed();
    await sleep(2500);
    upstream.close();
    await sleep(100);
    const before = await areServed();
    const json = { "Content-Type": "application/json" };
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    const writes = {
      "tag with an invented key": () =>
        ask(port, "/v1/datasets/tag", {
          method: "POST",
          headers: { ...json, "X-API-Key": "nobodyknowsthiskey" },
          body: '{"data_id":61,"tag":"x"}',
        }),
      "proxied write without a key": () =>
        ask(port, "/api/v1/json/data/tag", { method: "POST", headers: { "Content-Length": "0" } }),
      "proxied write with an invented key": () =>
        ask(port, "/api/v1/json/data/tag", { method: "POST", headers: form, body: "data_id=61&tag=x&api_key=nobody" }),
      "proxied write with an invented cookie": () =>
        ask(port, "/api/v1/json/data", {
          method: "POST",
          headers: { ...form, Cookie: "ci_session=x" },
          body: "did=61",
        }),
      "proxied deletion": () => ask(port, "/api/v1/json/data/61?api_key=nobody", { method: "DELETE" }),
    };
    const cases: { name: string; holds: boolean }[] = [];
    for (const [name, write] of Object.entries(writes)) {
      await write();
      cases.push({ name, holds: await areServed() });
    }
    return [
      holds("stale-if-error while legacy is down", before ? "served" : "not served", "served", before),
      allHold("failed writes after which it still serves", cases),
    ];
  },
};
