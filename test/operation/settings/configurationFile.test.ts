import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { errorsIn, fileWith, settingsIn, warningsIn } from "./support.ts";

const yaml = (content: string) => ({ CONFIG: fileWith(content, "config.yaml") });

describe("a configuration in YAML", () => {
  test("a configuration is YAML 1.2: yes and 010 are a text and ten", () => {
    expect(settingsIn(yaml("HOST: yes\n"))).toMatchObject({ HOST: "yes" });
    expect(settingsIn(yaml("MAX_CONNECTIONS: 010\n"))).toMatchObject({ MAX_CONNECTIONS: 10 });
  });

  test.each([
    ["PORT: 1\nPREFIXES: [/a\nHOST: hush\n", "line 3, column 1: bad indent"],
    ["PORT: 1\nPORT: 2 # hush\n", "line 2, column 1: duplicate key"],
    ["PORT: 1\n---\nPORT: 2\n", "line 2, column 1: multiple docs"],
    ["HOST: !hush x\n", "line 1, column 7: tag resolve failed"],
    ["HOST: *hush\n", "an alias without an anchor"],
    ["? [a]\n: 1\n", "line 1, column 3: non string key"],
  ])("%j is refused by line, without its text", (content, place) => {
    const found = errorsIn(yaml(content));
    expect(found).toEqual([expect.stringMatching(/^CONFIG: .*config\.yaml is not valid YAML \(/)]);
    expect(found[0]).toContain(`(${place}`);
    expect(found[0]).not.toContain("hush");
  });

  test.each(["", "- PORT\n", "hush\n"])("%j is no mapping of settings", (content) => {
    expect(errorsIn(yaml(content))).toEqual([
      expect.stringMatching(/config\.yaml has to hold a YAML mapping of settings$/),
    ]);
  });

  test("a configuration in YAML is bounded in size and in its expanded aliases", () => {
    const laughs = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(", ")}]`);
    expect(errorsIn(yaml(["a0: &a0 [x, x, x]", ...laughs].join("\n")))).toEqual([
      expect.stringContaining("aliases that stand for more than 20 nodes each"),
    ]);
    expect(errorsIn(yaml(`#${"x".repeat(64 * 1024)}`))).toEqual([expect.stringContaining("more than 65536 bytes")]);
  });
});

test("a pipe is refused, since reading it would block", () => {
  const pipe = `${fileWith("")}.pipe`;
  execFileSync("mkfifo", [pipe]);
  expect(errorsIn({ CONFIG: pipe })).toEqual([
    `CONFIG: ${pipe} cannot be read (a pipe); allowed is the path of a JSON or YAML (.yaml, .yml) file`,
  ]);
});

test.each([
  ["", "JSON"],
  ["hush", "JSON"],
  ['{"LEGACY_API_KEY": "hush"', "JSON"],
  ['{"LEGACY_API_KEY", "REDIS_URL", "ADMIN_TOKEN": "hush"', "JSON"],
  ['\ufeff{"HOST": "hush"}', "JSON"],
  ['["hush"]', "a JSON object"],
  ['"hush"', "a JSON object"],
  ["null", "a JSON object"],
  ['{\n  "PORT": 1,\n  "HOST" "hush"\n}', "is not valid JSON (line 3, column 10)"],
])("%j is refused, and not echoed", (content, why) => {
  const [error = "", ...others] = errorsIn({ CONFIG: fileWith(content) });
  expect([error, others]).toEqual([expect.stringMatching(/^CONFIG: /), []]);
  expect(error).toContain(why);
  expect(error).not.toContain("hush");
});

test.each([
  ["/no/such/file", "ENOENT"],
  [tmpdir(), "EISDIR"],
  ["/dev/zero", "more than 1048576 bytes"],
])("CONFIG=%s is refused", (CONFIG, why) => {
  expect(errorsIn({ CONFIG })).toEqual([expect.stringContaining(why)]);
});

test("$schema is for editors", () => {
  expect(settingsIn({ CONFIG: fileWith('{"$schema": "docs/config.schema.json", "PORT": 1}') })).toMatchObject({
    PORT: 1,
  });
});

test("a file with secrets that every user may read is named in a warning", () => {
  const CONFIG = fileWith('{"ADMIN_TOKEN": "hush-hush-hush-hush", "PORT": 1}', "config.json", 0o600);
  expect(warningsIn({ CONFIG })).toEqual([]);
  chmodSync(CONFIG, 0o644);
  expect(warningsIn({ CONFIG })).toEqual([
    `CONFIG: every user of this machine may read ${CONFIG}, which holds ADMIN_TOKEN: run chmod o-r on it, or name a file with the secret by ADMIN_TOKEN_FILE`,
  ]);
  const plain = fileWith('{"ADMIN_TOKEN_FILE": "/dev/null", "PORT": 1}');
  chmodSync(plain, 0o644);
  expect(warningsIn({ CONFIG: plain, ADMIN_TOKEN_FILE: fileWith("hush-hush-hush-hush") })).toEqual([]);
});
