import { expect, test } from "vitest";
import { errorsIn, warningsIn } from "../../operation/settings/support.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const CACHE_DISK_BYTES = "4294967296";
const DATA_DIR = temporaryFolder();
const REDIS_URL = "redis://127.0.0.1:6379";

test.each<[Record<string, string>, RegExp[], RegExp[]]>([
  [{ DATA_DIR }, [], []],
  [{}, [/^CACHE_DISK_BYTES: given without DATA_DIR; allowed is both/], []],
  [{ DATA_DIR, CACHE_BYTES: "0" }, [/^CACHE_DISK_BYTES: given with CACHE_BYTES=0/], []],
  [{ REDIS_URL }, [], [/^CACHE_DISK_BYTES: given with REDIS_URL, .* nothing is cached on the disk$/]],
  [{ DATA_DIR, CACHE_DISK_BYTES: "67108863" }, [/^CACHE_DISK_BYTES: .*67108864/], []],
])("CACHE_DISK_BYTES with %j", (others, errors, warnings) => {
  const given = { CACHE_DISK_BYTES, ...others };
  expect(errorsIn(given)).toEqual(errors.map((error) => expect.stringMatching(error)));
  expect(errors.length > 0 ? [] : warningsIn(given)).toEqual(warnings.map((text) => expect.stringMatching(text)));
});
