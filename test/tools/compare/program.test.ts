import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Report } from "../../../src/tools/compare/report/report.ts";
import { spawnProgram } from "../../support/program.ts";
import { openServers } from "./support.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const { serve, candidate, datasets, legacy } = openServers();

const compare = (args: string[], environment: Record<string, string> = {}) => {
  const out = temporaryFolder();
  const { child, output, ended } = spawnProgram(environment, "compare", "--out", out, ...args);
  // A run of more than ten seconds prints how far it is.
  child.once("close", () => void (output.error = output.error.replaceAll(/^\d+ of \d+ compared, .*\n/gm, "")));
  const report = () => JSON.parse(readFileSync(join(out, "report.json"), "utf8")) as Report;
  return { child, out, output, ended, report };
};

const written = (directory: string): string =>
  readdirSync(directory)
    .map((name) => readFileSync(join(directory, name), "utf8"))
    .join("\n");

test.concurrent("0 where everything is explained: the examples over the sample legacy", async () => {
  const { ended, report, out, output } = compare([]);
  expect([await ended, output.error]).toEqual([0, ""]);
  expect(report().summary).toMatchObject({ unexplained: 0, failed: 0, drift: 0 });
  expect(report().summary.compared).toBeGreaterThan(10);
  expect(output.out).toContain("Nothing unexplained");
  expect(readdirSync(out).toSorted()).toEqual(["junit.xml", "report.html", "report.json", "summary.md"]);
});

test.concurrent("1 for a candidate that breaks off its answers", async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { "Content-Length": "1000" });
    response.write("{");
    setTimeout(() => response.destroy(), 5);
  });
  const { ended, report, output } = compare(datasets(url, "61,1"));
  expect(await ended).toBe(1);
  expect(report().summary).toMatchObject({ compared: 2, unexplained: 2, failed: 0 });
  expect(output.out).toContain("the candidate gives no answer");
});

test.concurrent("2 for an output folder that cannot be written, before a server is asked", async () => {
  const asked: string[] = [];
  const url = await serve((incoming, response) => {
    asked.push(incoming.url ?? "");
    response.end("{}");
  });
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  const { ended, output } = compare(["--legacy", url, "--out", join(file, "reports")]);
  expect([await ended, output.error]).toEqual([2, expect.stringMatching(/ENOTDIR|EEXIST/)]);
  expect(asked).toEqual([]);
});

test.concurrent("the gateway's own key is in nothing that is written or printed either", async () => {
  const key = "S3rv1ceKeyS3rv1ceKey";
  const url = await serve((incoming, response) => {
    let body = "";
    incoming.on("data", (chunk: Buffer) => void (body += chunk.toString()));
    incoming.on("end", () => {
      response.writeHead(412, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ error: { code: "9999", message: `debug: ${body} ${key.toUpperCase()}` } }));
    });
  });
  const corpus = join(temporaryFolder(), "urls.txt");
  writeFileSync(corpus, "/v1/flow/exists/a%3Db/1\n");
  const { ended, out, output } = compare(["--legacy", url, "--corpus", corpus], { LEGACY_API_KEY: key });
  expect(await ended).toBe(1);
  const everything = written(out) + output.out + output.error;
  expect(everything).toContain("(key)");
  expect(everything).not.toMatch(new RegExp(key, "i"));
});

test.concurrent("the key goes to both sides, and is in nothing that is written or printed", async () => {
  const key = "aBcD0123aBcD0123aBcD0123aBcD0123";
  const seen: string[] = [];
  const echo = (name: string) =>
    serve((incoming, response) => {
      seen.push(`${name} ${incoming.url} ${incoming.headers["x-api-key"]?.toString() ?? ""}`);
      const id = /\d+(?=$|\?)/.exec(incoming.url ?? "")?.[0] ?? "1";
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(
        JSON.stringify({
          data_set_description: {
            id,
            name: incoming.url,
            description: `${key} ${JSON.stringify(incoming.headers)}`,
            [key]: key,
          },
        }),
      );
    });
  const { ended, out, output } = compare(
    [
      "--legacy",
      await echo("legacy"),
      "--candidate",
      await echo("candidate"),
      "--ids",
      "1..3",
      "--endpoint",
      "getDataset",
      "--key",
      "MY_KEY",
    ],
    { MY_KEY: key },
  );
  expect(await ended).toBe(1);
  expect(seen.some((line) => line.startsWith("legacy /api/v1/json/data/1?api_key=") && line.includes(key))).toBe(true);
  expect(seen.some((line) => line === `candidate /datasets/1 ${key}`)).toBe(true);
  const everything = written(out) + output.out + output.error;
  expect(everything).toContain("$MY_KEY");
  expect(everything).not.toContain(key);
});

test.concurrent("2 when it is interrupted, without a report", async () => {
  let asked = 0;
  const inner = await candidate(() => undefined);
  const { child, ended, output, out } = compare([
    "--legacy",
    legacy(),
    "--candidate",
    await serve((incoming, response) => {
      // Interrupted in the middle: nothing is answered any more.
      if (++asked === 15) child.kill("SIGINT");
      else if (asked < 15)
        void (async () => {
          const answer = await fetch(inner + incoming.url);
          response.writeHead(answer.status, { "Content-Type": "application/json" }).end(await answer.text());
        })();
      else response.destroy();
    }),
    "--ids",
    "1..30",
  ]);
  expect([await ended, output.error]).toEqual([2, expect.stringContaining("interrupted: there is no report")]);
  expect(readdirSync(out)).toEqual([]);
});
