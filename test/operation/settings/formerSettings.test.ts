import { renameSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { spawnProgram, startProgram } from "../../support/program.ts";
import { settingsOf } from "../../support/settings.ts";
import { until } from "../../support/waiting.ts";
import { fileWith } from "./support.ts";

const former = { CONNECT_TIMEOUT_MS: 1, LEGACY_STUDIES: [7], READER_THREADS: 99, SLOW_REQUEST_MS: "x" };
const names = Object.keys(former);
const inEnvironment = Object.fromEntries(Object.entries(former).map(([name, value]) => [name, String(value)]));
const lineOf = (name: string, place: string) =>
  expect.stringMatching(new RegExp(`^${name} ${place} is not a setting any more and has no effect: .+`));

test("a former setting has no effect, and a warning for each place where it is given", () => {
  const CONFIG = fileWith(JSON.stringify({ ...former, PORT: 9000 }));
  const plain = settingsOf({ PORT: "9000" });
  const loaded = (warnings: unknown) => ({ ...plain, warnings });
  for (const name of names) {
    expect(settingsOf({ PORT: "9000", [name]: inEnvironment[name] })).toEqual(
      loaded([lineOf(name, "in the environment")]),
    );
    expect(settingsOf({ PORT: "9000", [name]: "" })).toEqual(plain);
  }
  expect(settingsOf({ CONFIG })).toEqual(loaded(names.map((name) => lineOf(name, `in ${CONFIG}`))));
  expect(settingsOf({ CONFIG, ...inEnvironment })).toEqual(
    loaded(names.flatMap((name) => [lineOf(name, `in ${CONFIG}`), lineOf(name, "in the environment")])),
  );
});

test("--check prints a line for each former setting, and is good", async () => {
  const CONFIG = fileWith(JSON.stringify(former));
  const { output, ended } = spawnProgram({ CONFIG, LEGACY_STUDIES: "7" }, "--check");
  expect(await ended).toBe(0);
  const lines = output.error.split("\n");
  for (const name of names) expect(lines).toContainEqual(lineOf(name, `in ${CONFIG}`));
  expect(lines).toContainEqual(lineOf("LEGACY_STUDIES", "in the environment"));
});

test("the start and each reload say that a former setting is none any more, and go on", async () => {
  const CONFIG = fileWith('{"SLOW_REQUEST_MS": 5}');
  const program = await startProgram({ CONFIG });
  onTestFinished(async () => void (await program.stop()));
  const { output, child } = program;
  await until(() => output.error.includes("SLOW_REQUEST_MS"));
  expect(output.error.split("\n")).toContainEqual(lineOf("SLOW_REQUEST_MS", `in ${CONFIG}`));
  writeFileSync(`${CONFIG}.new`, '{"LEGACY_STUDIES": [1, 2]}');
  renameSync(`${CONFIG}.new`, CONFIG);
  child.kill("SIGHUP");
  await until(() => output.error.includes('"configuration_re'));
  const events = output.error.split("\n").filter((line) => line.startsWith("{"));
  expect(events.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({
      event: "configuration_reloaded",
      changed: [],
      warnings: [lineOf("LEGACY_STUDIES", `in ${CONFIG}`)],
    }),
  );
});
