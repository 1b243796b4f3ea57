import { expect, test } from "vitest";
import { temporaryFolder } from "../../../support/temporaryFolder.ts";
import { moveOn } from "./moves.ts";
import { openFile } from "./support.ts";

test("an endpoint that does not exist is reported, and stays in the store", async () => {
  const directory = temporaryFolder();
  const first = await openFile(directory);
  await moveOn(first, "getThing", 1);
  await moveOn(first, "getNoThing", 2);
  await first.close();
  const store = await openFile(directory, { endpoints: ["getThing"] });
  expect(store.events).toEqual(['migration_store_unknown {"endpoint":"getNoThing"}']);
  await moveOn(store, "getThing", 3);
  await store.close();
  const next = await openFile(directory, { endpoints: ["getThing"] });
  expect(Object.keys(next.state().stages).toSorted()).toEqual(["getNoThing", "getThing"]);
});
