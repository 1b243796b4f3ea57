import { type Attack, atMost, holds } from "../lib/attack.ts";
import { noiseOf } from "../lib/noise.ts";
import { ask, inParallel, watchWaits } from "../lib/client.ts";
import { sleep } from "../../support/waiting.ts";

const POSTS = 600;
/** What a caller's writes may add, in MiB. */
const BOUND = 150;
const key = "aaaa0000000000000000000000000001";

export const rememberedWrites: Attack = {
  name: "remembered-writes",
  what: "Writes of 64 KB full of ids, without a key and with one: what the cache remembers of them is bounded.",
  async run({ startGateway, openUpstream, progress }) {
    const upstream = await openUpstream(({ url, method }, response, body) => {
      if (method === "GET") return response.end('{"evaluation_measures":{"measures":{"measure":"kappa"}}}');
      const isKeyed = url.includes(key) || body.includes(key);
      const type = isKeyed ? "application/json" : "text/html";
      return response.writeHead(isKeyed ? 200 : 400, { "Content-Type": type }).end(isKeyed ? "{}" : "<html>no</html>");
    });
    const { port, resident, isAlive } = await startGateway(
      { LEGACY_URL: upstream.url },
      { nodeArguments: ["--max-old-space-size=1024"] },
    );
    const noise = await noiseOf(port, "/v1/evaluationmeasures/list");
    const checks = [];
    let id = 1;
    const send = async (path: string) => {
      const start = resident();
      const waits = await watchWaits(port, "/v1/evaluationmeasures/list");
      await inParallel(POSTS, 16, async (index) => {
        let body = "";
        while (body.length < 65_000) body += `did=${id++}&`;
        await ask(port, path, {
          method: "POST",
          headers: { "Content-Type": "application/x-www-form-urlencoded" },
          body,
        });
        progress(`${index} of ${POSTS} writes to ${path}`);
      });
      const longest = await waits.stop();
      await sleep(2000);
      return { grown: resident() - start, longest };
    };
    const anonymous = await send("/api/v1/json/data/!");
    checks.push(atMost(`memory that ${POSTS} writes without a key added`, anonymous.grown, BOUND, "MiB"));
    if (isAlive()) {
      const keyed = await send(`/api/v1/json/data/tag?api_key=${key}`);
      checks.push(atMost(`memory that ${POSTS} writes with a key added`, keyed.grown, BOUND, "MiB"));
      checks.push(
        atMost(
          "longest wait of another caller meanwhile",
          Math.max(anonymous.longest, keyed.longest),
          250 + noise,
          "ms",
        ),
      );
    }
    checks.push(holds("the process", isAlive() ? "alive" : "ended", "alive", isAlive()));
    return checks;
  },
};
