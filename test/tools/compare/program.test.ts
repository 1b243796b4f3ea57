import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { spawnProgram } from "../../support/program.ts";
import { openServers } from "./support.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const { serve, candidate, legacy } = openServers();

test("compare exits with 2 when it is interrupted, and writes no report", async () => {
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
  const out = temporaryFolder();
  const sides = ["--legacy", legacy(), "--candidate", url, "--ids", "1..30"];
  const { child, ended, output } = spawnProgram({}, "compare", "--out", out, ...sides);
  expect([await ended, output.error]).toEqual([2, expect.stringContaining("interrupted: there is no report")]);
  expect(readdirSync(out)).toEqual([]);
});
