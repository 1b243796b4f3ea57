import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Report } from "../../../tools/compare/report/report.ts";
import { spawnProgram } from "../../support/program.ts";
import { openServers } from "./support.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const { serve, candidate, legacy } = openServers();

const compare = (args: string[]) => {
  const out = temporaryFolder();
  return { out, ...spawnProgram({}, "compare", "--out", out, ...args) };
};

test.concurrent("compare exits with 0 where every difference of the examples is explained", async () => {
  const { ended, out, output } = compare([]);
  expect(await ended).toBe(0);
  // A run of more than ten seconds prints how far it is.
  expect(output.error.replaceAll(/^\d+ of \d+ compared, .*\n/gm, "")).toBe("");
  const { summary } = JSON.parse(readFileSync(join(out, "report.json"), "utf8")) as Report;
  expect(summary).toMatchObject({ unexplained: 0, failed: 0, drift: 0 });
  expect(summary.compared).toBeGreaterThan(0);
  expect(output.out).toContain("Nothing unexplained");
  expect(readdirSync(out).toSorted()).toEqual(["report.html", "report.json"]);
});

test.concurrent("compare exits with 2 when it is interrupted, and writes no report", async () => {
  let asked = 0;
  const inner = await candidate(() => undefined);
  const url = await serve((incoming, response) => {
    // After the interrupt no request is answered.
    if (++asked === 15) child.kill("SIGINT");
    else if (asked < 15)
      void (async () => {
        const answer = await fetch(inner + incoming.url);
        response.writeHead(answer.status, { "Content-Type": "application/json" }).end(await answer.text());
      })();
    else response.destroy();
  });
  const { child, ended, output, out } = compare(["--legacy", legacy(), "--candidate", url, "--ids", "1..30"]);
  expect([await ended, output.error]).toEqual([2, expect.stringContaining("interrupted: there is no report")]);
  expect(readdirSync(out)).toEqual([]);
});
