import { ask } from "./ask.ts";
import { listBody, studyBody } from "./bodies.ts";
import { SERVER_CORE, UPSTREAM_CORE } from "./cores.ts";
import { startGateway } from "./gateway.ts";
import { reportMissingTools } from "./leftOut.ts";
import { startFixedAnswer } from "./peers/fixedAnswer.ts";
import { residentMegabytes, stopAll } from "./processes.ts";
import { type BenchOptions, type Contender, race, reportRace } from "./race.ts";

/** In a hit, `{n}` stands for the number 1; in a miss, for a different number each time. */
const list = (rows: number) => ({ body: listBody(rows), path: `/v1/data/list/limit/${rows}/offset/{n}` });
const cases = [
  { name: "3 KB", body: studyBody(), path: "/v1/studies/s{n}" },
  { name: "30 KB", ...list(39) },
  { name: "200 KB", ...list(263) },
];
/** The number of hits in 100 requests. */
const ratios = [100, 90, 50, 0];

/**
 * Measures the requests a second of a gateway on one core, and its memory then, by the size of bodies and the ratio of
 * hits.
 */
export const benchCapacity = async (options: BenchOptions): Promise<void> => {
  reportMissingTools();
  for (const { name, body, path } of cases) {
    const upstream = await startFixedAnswer(UPSTREAM_CORE, body);
    const { url, pid } = await startGateway(SERVER_CORE, upstream);
    const before = residentMegabytes(pid);
    const answer = await ask((url + path).replace("{n}", "1"));
    const contenders = ratios.map((hits): Contender => ({
      name: `${hits} % hits`,
      url: url + path,
      pid,
      hits,
      status: 200,
      body: answer.bytes,
    }));
    const title = `answers of legacy of ${name} (${answer.bytes.length} bytes of ours)`;
    reportRace(title, await race(contenders, options), [
      ["90 % hits", "100 % hits"],
      ["50 % hits", "100 % hits"],
      ["0 % hits", "100 % hits"],
    ]);
    console.log(`  memory: ${before.toFixed(0)} MB at the start, ${residentMegabytes(pid).toFixed(0)} MB at the end`);
    stopAll();
  }
};
