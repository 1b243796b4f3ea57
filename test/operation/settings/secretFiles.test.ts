import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { secretSettings } from "../../../src/operation/settings/settings.ts";
import { fragments, settingsOf } from "../../support/settings.ts";
import { errorsIn, fileWith } from "./support.ts";

const values: Record<string, string> = {
  LEGACY_API_KEY: "a".repeat(32),
  LEGACY_ADMIN_KEY: "b".repeat(32),
  REDIS_URL: "redis://127.0.0.1:6379",
  WEBHOOK_URL: "https://hooks.example/x",
  WEBHOOK_SECRET: "c".repeat(44),
};
/** Secrets that need another setting. */
const beside: Record<string, string> = { WEBHOOK_URL: "WEBHOOK_SECRET", WEBHOOK_SECRET: "WEBHOOK_URL" };

describe("a secret from a file", () => {
  test.each([...secretSettings(fragments)])("%s", (name) => {
    const value = values[name] ?? "hush-hush-hush-hush";
    const other = beside[name];
    const others: Record<string, string> = other === undefined ? {} : { [other]: values[other] ?? "" };
    for (const end of ["", "\n", "\r\n"]) {
      const path = fileWith(value + end);
      expect(settingsOf({ ...others, [`${name}_FILE`]: path })).toMatchObject({
        settings: { [name]: value },
        warnings: [],
      });
      const CONFIG = fileWith(JSON.stringify({ ...others, [`${name}_FILE`]: path }));
      expect(settingsOf({ CONFIG })).toMatchObject({ settings: { [name]: value } });
    }
  });

  test("a secret from a file loses no more than one newline", () => {
    expect(errorsIn({ ADMIN_TOKEN_FILE: fileWith("hush-hush-hush-hush\n\n") })).toEqual([
      "ADMIN_TOKEN: (not shown) given in the file that ADMIN_TOKEN_FILE names; allowed is 16-256 characters without blanks",
    ]);
  });

  test("a secret may not be given both by itself and in a file", () => {
    const both = { ADMIN_TOKEN: "hush-hush-hush-hush", ADMIN_TOKEN_FILE: fileWith("hush-hush-hush-hush") };
    expect(errorsIn(both)).toEqual([
      "ADMIN_TOKEN_FILE: given in the environment, and ADMIN_TOKEN as well; allowed is one of them",
    ]);
    expect(errorsIn({ ...both, ADMIN_TOKEN: "" })).toEqual([]);
  });

  test.each([
    ["/no/such/file", "ENOENT"],
    [tmpdir(), "EISDIR"],
    ["/dev/zero", "more than 65536 bytes"],
  ])("%s cannot be read, and the error names the setting", (path, why) => {
    expect(errorsIn({ ADMIN_TOKEN_FILE: path })).toEqual([
      `ADMIN_TOKEN_FILE: "${path}" given in the environment cannot be read (${why}); allowed is the path of a file with the secret`,
    ]);
  });

  test.each(["", "\n", "\r\n"])("a file that holds %j is said to be empty", (content) => {
    const path = fileWith(content);
    expect(errorsIn({ ADMIN_TOKEN_FILE: path })).toEqual([
      `ADMIN_TOKEN_FILE: "${path}" given in the environment is empty; allowed is the path of a file with the secret`,
    ]);
  });

  test("only secret settings are read from a file of their own", () => {
    expect(errorsIn({ CONFIG: fileWith('{"PORT_FILE": "/x"}') })).toEqual([
      expect.stringMatching(/^PORT_FILE: unknown/),
    ]);
    expect(errorsIn({ CONFIG: fileWith('{"ADMIN_TOKEN_FILE": 5}') })).toEqual([
      expect.stringMatching(/^ADMIN_TOKEN_FILE: 5 given in .*; allowed is the path of a file/),
    ]);
  });
});
