import { tmpdir } from "node:os";
import { expect, test } from "vitest";
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

test.each([...secretSettings(fragments)])("the secret %s is read from a file, without a newline at its end", (name) => {
  const value = values[name] ?? "hush-hush-hush-hush";
  const other = beside[name];
  const others: Record<string, string> = other === undefined ? {} : { [other]: values[other] ?? "" };
  for (const end of ["", "\n", "\r\n"]) {
    const given = { ...others, [`${name}_FILE`]: fileWith(value + end) };
    for (const environment of [given, { CONFIG: fileWith(JSON.stringify(given)) }])
      expect(settingsOf(environment)).toMatchObject({ settings: { [name]: value }, warnings: [] });
  }
});

test("a secret may not be given both by itself and in a file; empty it is not given", () => {
  const both = { ADMIN_TOKEN: "hush-hush-hush-hush", ADMIN_TOKEN_FILE: fileWith("hush-hush-hush-hush") };
  expect(errorsIn(both)).toEqual([expect.stringMatching(/^ADMIN_TOKEN_FILE: .* ADMIN_TOKEN as well; allowed is /)]);
  expect(errorsIn({ ...both, ADMIN_TOKEN: "" })).toEqual([]);
});

const holding = (content: string) => ({ ADMIN_TOKEN_FILE: fileWith(content) });

test.each<[why: string, environment: Record<string, string>, name?: string]>([
  ["(ENOENT)", { ADMIN_TOKEN_FILE: "/no/such/file" }],
  ["(EISDIR)", { ADMIN_TOKEN_FILE: tmpdir() }],
  ["(more than 65536 bytes)", { ADMIN_TOKEN_FILE: "/dev/zero" }],
  ["is empty", holding("")],
  ["is empty", holding("\n")],
  ["is empty", holding("\r\n")],
  ["5 given in", { CONFIG: fileWith('{"ADMIN_TOKEN_FILE": 5}') }],
  // No more than one newline is left out.
  ["(not shown) given in the file that ADMIN_TOKEN_FILE names", holding("hush-hush-hush-hush\n\n"), "ADMIN_TOKEN"],
])("a file without the secret is refused: %s", (why, environment, name = "ADMIN_TOKEN_FILE") => {
  const [error = "", ...others] = errorsIn(environment);
  expect([error.split(":")[0], others]).toEqual([name, []]);
  expect(error).toContain(why);
  expect(error).toContain("; allowed is ");
});

test("a setting that is no secret is not read from a file of its own", () => {
  expect(errorsIn({ CONFIG: fileWith('{"PORT_FILE": "/x"}') })).toEqual([expect.stringMatching(/^PORT_FILE: unknown/)]);
});
