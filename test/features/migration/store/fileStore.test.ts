import { writeFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { entry, moveOn, moveTo, stage } from "./moves.ts";
import { openFile, stagesOf } from "./support.ts";
import { temporaryFolder } from "../../../support/temporaryFolder.ts";

const good = {
  format: 1,
  stages: { getThing: stage(1) },
  audit: [moveTo("getThing", stage(1))],
  expected: [entry("one")],
};

/** A directory as version 0.1 has left it. */
const containing = (content: unknown) => {
  const directory = temporaryFolder();
  const file = join(directory, "migration.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return { directory, file };
};

test("an entry whose link was accepted before links had to be http(s) stops no start", async () => {
  const { directory } = containing({ ...good, expected: [{ ...entry("one"), link: "issue 12" }] });
  for (let i = 0; i < 2; i++) {
    const store = await openFile(directory);
    expect(store.state().expected).toEqual([{ ...entry("one"), link: "issue 12" }]);
    await store.close();
  }
});

test.each([
  ["nothing", "", "is not valid JSON"],
  ["half of it", JSON.stringify(good, null, 2).slice(0, 200), "is not valid JSON"],
  ["no object", [], "expected object"],
  ["another format", { ...good, format: 2 }, "/format: another version's format; this one reads 1"],
  ["no format", { ...good, format: undefined }, "/format: "],
  ["an unknown stage", { ...good, stages: { getThing: { ...stage(1), stage: "future" } } }, "/stages/getThing/stage: "],
  ["an unknown field", { ...good, owner: "olga" }, "owner"],
  ["a move without a time", { ...good, audit: [{ ...good.audit[0], at: undefined }] }, "/audit/0/at: "],
  ["an id twice", { ...good, expected: [entry("one"), entry("one")] }, "/expected: each id once"],
])("a file with %s stops the start, says why, and stays what it is", async (_, content, why) => {
  const { directory, file } = containing(content);
  const before = readFileSync(file);
  for (let i = 0; i < 2; i++) {
    const message = await openFile(directory).catch((error: Error) => error.message);
    expect(message).toContain(`DATA_DIR: ${directory} cannot be used: ${file} `);
    expect(message).toContain(why);
  }
  expect(readFileSync(file)).toEqual(before);
  // A store that did not start holds no lock.
  writeFileSync(file, JSON.stringify(good));
  expect(stagesOf((await openFile(directory)).state())).toEqual(["getThing shadow 1"]);
});

test("an endpoint that does not exist is reported, and stays in the store", async () => {
  const { directory } = containing({ ...good, stages: { ...good.stages, getNoThing: stage(2) } });
  const store = await openFile(directory, { endpoints: ["getThing"] });
  expect(store.events).toEqual(['migration_store_unknown {"endpoint":"getNoThing"}']);
  await moveOn(store, "getThing", 3);
  await store.close();
  const next = await openFile(directory, { endpoints: ["getThing"] });
  expect(Object.keys(next.state().stages).toSorted()).toEqual(["getNoThing", "getThing"]);
});
