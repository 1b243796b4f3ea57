import { type Attack, atMost, holds } from "../lib/attack.ts";
import { ask, watchWaits } from "../lib/client.ts";
import { catalogueLegacy } from "../lib/catalogueLegacy.ts";
import { noiseOf } from "../lib/noise.ts";

export const long422: Attack = {
  name: "long-422",
  what: "1 MiB of unknown fields in the body of a list, twenty times at once.",
  async run(context) {
    const upstream = await catalogueLegacy(context);
    const { port } = await context.startGateway({ LEGACY_URL: upstream.url });
    const probe = "/v1/datasets/61";
    await ask(port, probe);
    const noise = await noiseOf(port, probe);
    let body = "{";
    for (let i = 0; body.length < 1024 ** 2 - 40; i++) body += `"${i.toString(36)}":1,`;
    body += '"z":1}';
    const longName = JSON.stringify({ ["x".repeat(1_000_000)]: 1 });
    const waits = await watchWaits(port, probe);
    const post = (text: string) =>
      ask(port, "/v1/datasets/list", { method: "POST", headers: { "Content-Type": "application/json" }, body: text });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post(index % 4 === 3 ? longName : body)),
    );
    const longest = await waits.stop();
    const statuses = [...new Set(answers.map(({ status }) => status))].join();
    return [
      holds("status", statuses, "422", statuses === "422"),
      atMost("bytes of the longest answer", Math.max(...answers.map((answer) => answer.body.length)), 100_000, "bytes"),
      atMost(`longest wait of another caller (${noise.toFixed(0)} ms without the attack)`, longest, 100 + noise, "ms"),
    ];
  },
};
