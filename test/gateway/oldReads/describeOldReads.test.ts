import { expect, test } from "vitest";
import { describeOldReads } from "../../../src/gateway/oldReads/describeOldReads.ts";
import { gatewayFor } from "../../support/gateway.ts";

test.each([
  ["all", "all reads of old clients come from the cache, and still do while legacy is down"],
  ["getDataset", "reads of 1 endpoint of old clients come from the cache, and still do while legacy is down"],
  ["", "old clients get only errors while legacy is down: CACHE_LEGACY is not set"],
])("with CACHE_LEGACY=%s the start and --check say what it brings", async (CACHE_LEGACY, line) => {
  const { core, close } = await gatewayFor("http://127.0.0.1:1", { CACHE_LEGACY });
  expect(describeOldReads(core)).toBe(line);
  await close();
});
