import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { httpUpstream } from "../../gateway/proxy/support.ts";
import { describeWith } from "../../support/needs.ts";
import { type Program, startProgram } from "../../support/program.ts";
import { consoleCommands } from "./markdown.ts";

const root = join(import.meta.dirname, "../../..");
const run = promisify(execFile);

/** The pattern of an expected output: `…` stands for anything, and a countdown may have gone on. */
const patternOf = (output: string): RegExp => {
  const literal = output.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${literal.replaceAll("…", ".*").replaceAll(/ttl=\d+/g, String.raw`ttl=\d+`)}$`);
};

describeWith("curl", "the commands of the documents", () => {
  let gateway: Program;
  beforeAll(async () => (gateway = await startProgram({ LOG_LEVEL: "silent" })));
  afterAll(() => gateway.stop());

  // Each document on its own: its first request finds the cache empty.
  test.each(["docs/caching.md", "README.md", "docs/clients.md"])(
    "the commands of %s print what it shows",
    async (document) => {
      const commands = consoleCommands(readFileSync(join(root, document), "utf8"));
      expect(commands.length).toBeGreaterThan(0);
      for (const { command, output } of commands) {
        const { stdout } = await run("sh", ["-c", command.replaceAll("127.0.0.1:8000", `127.0.0.1:${gateway.port}`)]);
        const printed = stdout.replaceAll("\r", "").trim();
        expect([command, patternOf(output).test(printed) ? output : printed]).toEqual([command, output]);
      }
    },
  );
});

test("docs/clients.md: its program waits for Retry-After and reads all pages", async () => {
  const page = (...names: string[]) => [200, names.map((name, did) => ({ did, name }))] as const;
  const noMore = [404, { detail: { code: "372", message: "No results" } }] as const;
  const answers = [page("a", "b"), [503, { detail: "wait" }] as const, page("c"), noMore];
  const asked: unknown[] = [];
  const origin = await httpUpstream((request, response) => {
    void (async () => {
      asked.push(JSON.parse(Buffer.concat(await request.toArray()).toString()));
      const [status, body] = answers.shift() ?? noMore;
      response.writeHead(status, status === 503 ? { "Retry-After": "0" } : {}).end(JSON.stringify(body));
    })();
  });
  const [, program = ""] = /^```js\n([^]*?)^```$/m.exec(readFileSync(join(root, "docs/clients.md"), "utf8")) ?? [];
  const own = program.replace("http://127.0.0.1:8000", origin);
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", own]);
  expect(stdout.split("\n")).toEqual(["0 a", "1 b", "0 c", ""]);
  expect(asked).toEqual([0, 2, 2, 4].map((offset) => ({ status: "all", limit: 2, offset })));
});
