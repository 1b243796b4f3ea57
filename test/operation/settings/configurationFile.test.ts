import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { errorsIn, fileWith, settingsIn, warningsIn } from "./support.ts";

test("a configuration is YAML 1.2: yes and a day are texts, 010 is ten, aliases work", () => {
  const CONFIG = fileWith(
    "HOST: &host yes\nLEGACY_HOST: *host\nADMIN_HOST: 2026-01-01\nMAX_CONNECTIONS: 010\n",
    "config.yaml",
  );
  expect(settingsIn({ CONFIG, ADMIN_TOKEN: "hush-hush-hush-hush" })).toMatchObject({
    HOST: "yes",
    LEGACY_HOST: "yes",
    ADMIN_HOST: "2026-01-01",
    MAX_CONNECTIONS: 10,
  });
});

const laughs = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(", ")}]`);

test.each([
  ["config.yaml", "PORT: 1\nPREFIXES: [/a\nHOST: hush\n", "line 3, column 1: bad indent"],
  ["config.yaml", "PORT: 1\nPORT: 2 # hush\n", "line 2, column 1: duplicate key"],
  ["config.yaml", "PORT: 1\n---\nPORT: 2\n", "line 2, column 1: multiple docs"],
  ["config.yaml", "HOST: !hush x\n", "line 1, column 7: tag resolve failed"],
  ["config.yaml", "HOST: *hush\n", "an alias without an anchor"],
  ["config.yaml", "? [a]\n: 1\n", "line 1, column 3: non string key"],
  ["config.yaml", ["a0: &a0 [x, x, x]", ...laughs].join("\n"), "more than 20 nodes"],
  ["config.yaml", `#${"x".repeat(64 * 1024)}`, "more than 65536 bytes"],
  ["config.yaml", "", "YAML mapping"],
  ["config.yaml", "- PORT\n", "YAML mapping"],
  ["config.yaml", "hush\n", "YAML mapping"],
  ["config.json", "", "JSON"],
  ["config.json", "hush", "JSON"],
  ["config.json", '{"LEGACY_API_KEY", "REDIS_URL", "ADMIN_TOKEN": "hush"', "JSON"],
  ["config.json", '\ufeff{"HOST": "hush"}', "JSON"],
  ["config.json", '["hush"]', "a JSON object"],
  ["config.json", '"hush"', "a JSON object"],
  ["config.json", "null", "a JSON object"],
  ["config.json", '{\n  "PORT": 1,\n  "HOST" "hush"\n}', "(line 3, column 10)"],
])("%s with %j is refused with the place or the reason, and not echoed", (name, content, why) => {
  const [error = "", ...others] = errorsIn({ CONFIG: fileWith(content, name) });
  expect([error, others]).toEqual([expect.stringMatching(/^CONFIG: /), []]);
  expect(error).toContain(why);
  expect(error).not.toContain("hush");
});

test.each([
  ["/no/such/file", "ENOENT"],
  [tmpdir(), "EISDIR"],
  ["/dev/zero", "more than 1048576 bytes"],
])("CONFIG=%s is refused with the reason", (CONFIG, why) => {
  expect(errorsIn({ CONFIG })).toEqual([expect.stringContaining(`${CONFIG} cannot be read (${why}); allowed is `)]);
});

test("a pipe as CONFIG is refused, since reading it would block", () => {
  const CONFIG = `${fileWith("")}.pipe`;
  execFileSync("mkfifo", [CONFIG]);
  expect(errorsIn({ CONFIG })).toEqual([expect.stringContaining(`${CONFIG} cannot be read (a pipe); allowed is `)]);
});

test("a file with secrets that every user may read is named in a warning", () => {
  const CONFIG = fileWith('{"ADMIN_TOKEN": "hush-hush-hush-hush", "PORT": 1}', "config.json", 0o640);
  expect(warningsIn({ CONFIG })).toEqual([]);
  chmodSync(CONFIG, 0o644);
  expect(warningsIn({ CONFIG })).toEqual([expect.stringMatching(`^CONFIG: .*${CONFIG}.* ADMIN_TOKEN_FILE`)]);
  const plain = fileWith('{"ADMIN_TOKEN_FILE": "/dev/null", "PORT": 1}');
  chmodSync(plain, 0o644);
  expect(warningsIn({ CONFIG: plain, ADMIN_TOKEN_FILE: fileWith("hush-hush-hush-hush") })).toEqual([]);
});
