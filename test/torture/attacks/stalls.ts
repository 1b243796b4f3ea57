import { type Attack, type Check, atMost } from "../lib/attack.ts";
import { ask, watchWaits } from "../lib/client.ts";
import { datasetList } from "../fuzz/legacy.ts";
import { sleep } from "../../support/waiting.ts";

/** No step of the event loop may take longer, in ms; what the machine adds by itself is measured. */
const BOUND = 100;
const MEASURES = '{"evaluation_measures":{"measures":{"measure":"kappa"}}}';

const qualities = Array.from({ length: 11 }, (_, index) => `NumberOfFeaturesOfKind${index}`);

/**
 * Legacy's list of `count` datasets, in both of its forms; `brokenJson` has a quote in a name, as legacy would send it.
 */
const listOf = (count: number): { json: string; brokenJson: string; xml: string } => {
  const rows = Array.from({ length: count }, (_, index) => ({ id: index + 1, name: `dataset_${index + 1}` }));
  const [json, xml] = [false, true].map((isXml) => datasetList(isXml, rows, qualities).body) as [string, string];
  return { json, brokenJson: json.replace("dataset_5", 'data"set'), xml };
};

/** The longest wait for a trivial request on an idle gateway, in ms: this machine's share of any measured wait. */
const noiseOf = async (port: number, path: string): Promise<number> => {
  const waits = await watchWaits(port, path);
  await sleep(1500);
  return waits.stop();
};

export const stalls: Attack = {
  name: "stalls",
  what: "Large answers of legacy, in JSON and XML, while another caller asks for something trivial.",
  async run({ startGateway, openUpstream }) {
    const list = listOf(10_000);
    const perRow = list.json.length / 10_000;
    const long = listOf(Math.floor(28e6 / perRow));
    const ids = (count: number) => Array.from({ length: count }, (_, index) => String(index));
    const study = JSON.stringify({
      study: { id: "99", main_entity_type: "run", name: "s", visibility: "public", runs: { run_id: ids(2_000_000) } },
    });
    const nested = `{"data_set_description":${"[".repeat(5e6)}${"]".repeat(5e6)}}`;
    let answer: (isJson: boolean) => Buffer = () => Buffer.from("");
    const upstream = await openUpstream(({ url }, response) =>
      response.end(url.includes("measure") ? MEASURES : answer(url.includes("/json/"))),
    );
    const { port } = await startGateway({ LEGACY_URL: upstream.url });
    const probe = "/v1/evaluationmeasures/list";
    let offset = 0;
    const listed = () => ask(port, `/v1/data/list/limit/10000/offset/${++offset}`);
    await ask(port, probe);
    answer = () => Buffer.from(listOf(10).json);
    await listed();
    const noise = await noiseOf(port, probe);
    const checks: Check[] = [];
    const measure = async (what: string, given: (isJson: boolean) => string, requests: () => Promise<unknown>) => {
      // Made beforehand: only the gateway works while waits are measured.
      const [json, xml] = [Buffer.from(given(true)), Buffer.from(given(false))];
      answer = (isJson) => (isJson ? json : xml);
      const waits = await watchWaits(port, probe);
      await requests();
      checks.push(atMost(`longest wait during ${what}`, await waits.stop(), BOUND + noise, "ms"));
    };
    const inXml = (one: typeof list) => (isJson: boolean) => (isJson ? one.brokenJson : one.xml);
    await measure("a list of 10,000 rows in JSON", () => list.json, listed);
    await measure("a list of 10,000 rows in XML", inXml(list), listed);
    await measure("eight such lists at once", inXml(list), () => Promise.all(Array.from({ length: 8 }, listed)));
    await measure("a list of 28 MB in JSON", () => long.json, listed);
    await measure("a list of 28 MB whose XML is longer than MAX_REPLY_BYTES", inXml(long), listed);
    await measure(
      "a study of two million runs",
      () => study,
      () => ask(port, "/v1/studies/99"),
    );
    await measure(
      "JSON of five million levels",
      () => nested,
      () => ask(port, "/v1/datasets/61"),
    );
    const old = (path: string) => () => ask(port, `/api/v1/json/${path}`);
    await measure("a list of 28 MB through the legacy interface", () => long.json, old("data/list/limit/10000"));
    await measure("a study of two million runs through it", () => study, old("study/99"));
    await measure("JSON of five million levels through it", () => nested, old("data/61"));
    checks.push({
      what: "longest wait without the attack",
      measured: `${noise.toFixed(0)} ms`,
      bound: "added to each bound above",
      holds: true,
    });
    return checks;
  },
};
