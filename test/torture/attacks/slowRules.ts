import { type Attack, type Check, atMost } from "../lib/attack.ts";
import { ask, watchWaits } from "../lib/client.ts";
import { noiseOf } from "../lib/noise.ts";

const BOUND = 100;
const MEASURES = '{"evaluation_measures":{"measures":{"measure":"kappa"}}}';

const dataset = (fields: Record<string, unknown>): string =>
  JSON.stringify({ data_set_description: { id: "61", name: "n", visibility: "public", format: "ARFF", ...fields } });
const quality = (value: string): string =>
  JSON.stringify({
    data: { dataset: [{ did: 1, name: "x", version: 1, status: "active", quality: [{ name: "q", value }] }] },
  });
const xml = (text: string): string => `<oml:study xmlns:oml="x"><oml:id>99</oml:id>${text}</oml:study>`;

/** Values for which a careless rule takes time that grows with the square of their length: path, legacy's answer. */
const values: Record<string, [path: string, answer: string]> = {
  "a quality of 40,000 digits and a letter": ["/v1/data/list", quality(`${"1".repeat(40_000)}x`)],
  "a quality of 80,000 blanks": ["/v1/data/list", quality(`${" ".repeat(80_000)}x`)],
  "a date with a million blanks": [
    "/v1/datasets/61",
    dataset({ processing_date: `2021-04-04${" ".repeat(1e6)}x`, upload_date: `2021-04-04${" ".repeat(1e6)}x` }),
  ],
  "a URL list of commas and blanks": [
    "/v1/datasets/61",
    dataset({ original_data_url: `,${" ".repeat(10)}`.repeat(100_000), creator: ",'\" ".repeat(250_000) }),
  ],
  "a URL list of one comma and a million blanks": [
    "/v1/datasets/61",
    dataset({ original_data_url: `,${" ".repeat(1e6)}!`, creator: `${" ".repeat(1e6)}!` }),
  ],
  "100,000 attributes": [
    "/v1/studies/99",
    xml(`<oml:name ${Array.from({ length: 100_000 }, (_, index) => `a${index}="1"`).join(" ")}>n</oml:name>`),
  ],
  "200,000 unclosed elements": ["/v1/studies/99", `<oml:study xmlns:oml="x">${"<b>".repeat(200_000)}`],
  "200,000 unclosed tags": ["/v1/studies/99", `<oml:study xmlns:oml="x">${"<b ".repeat(200_000)}`],
  "200,000 unclosed comments": ["/v1/studies/99", `<oml:study xmlns:oml="x">${"<!-- ".repeat(200_000)}`],
  "a description of 100,000 opening tags": [
    "/v1/studies/99",
    xml(`<oml:description>${"<oml:description>".repeat(100_000)}</oml:description>`),
  ],
  "a million entities": ["/v1/studies/99", xml(`<oml:name>${"&#65;".repeat(1e6)}</oml:name>`)],
  "a million ampersands": ["/v1/studies/99", xml(`<oml:name>${"&".repeat(1e6)}</oml:name>`)],
  "thirty million blanks": ["/v1/datasets/61", `${" ".repeat(3e7)}{}`],
  "an XML declaration without an end": ["/v1/datasets/61", `<?xml ${"a".repeat(3e7)}`],
};

export const slowRules: Attack = {
  name: "slow-rules",
  what: "Values and documents that take a careless rule or parser the square of their length.",
  async run({ startGateway, openUpstream, progress }) {
    let answer = Buffer.from("");
    const upstream = await openUpstream(({ url }, response) =>
      response.end(url.includes("measure") ? MEASURES : answer),
    );
    const { port } = await startGateway({ LEGACY_URL: upstream.url });
    const probe = "/v1/evaluationmeasures/list";
    await ask(port, probe);
    const noise = await noiseOf(port, probe);
    const checks: Check[] = [];
    for (const [name, [path, given]] of Object.entries(values)) {
      progress(name);
      answer = Buffer.from(given);
      const waits = await watchWaits(port, probe);
      await ask(port, path, { headers: { "Cache-Control": "no-store" } });
      checks.push(atMost(`longest wait during ${name}`, await waits.stop(), BOUND + noise, "ms"));
    }
    return checks;
  },
};
