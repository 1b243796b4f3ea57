import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { startSampleLegacy } from "../../tools/sampleLegacy/startSampleLegacy.ts";
import { keys } from "../gateway/answer/support.ts";
import { clock } from "../gateway/cache/support.ts";
import { listeningGateway } from "../gateway/http/support.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { caching } from "./caching.ts";

/**
 * The folder of openml-python's sources and of its imports that Python does not have. No
 * package of Debian's has them.
 */
const sources = process.env["OPENML_PYTHON"];
if (!sources)
  process.stderr.write("OPENML_PYTHON is not set to the folder of openml-python's sources. It is not tried.\n");

/** The result of each call that openml-python makes to this server with this key. */
const callAll = async (origin: string, key: string): Promise<Record<string, string>> => {
  const env = { PYTHONPATH: sources, HOME: temporaryFolder(), PYTHONDONTWRITEBYTECODE: "1" };
  const { stdout } = await promisify(execFile)("/usr/bin/python3", ["test/clients/openmlPython.py", origin, key], {
    env,
  });
  return JSON.parse(stdout) as Record<string, string>;
};

describe.skipIf(!sources)("openml-python, through the gateway", () => {
  test(
    "gets the same while legacy is well and while it fails, with a key and without",
    { timeout: 900_000 },
    async () => {
      const legacy = await startSampleLegacy();
      onTestFinished(() => legacy.close());
      const gateway = await listeningGateway(legacy.url, caching);
      const { pass } = clock();
      const digest = expect.stringMatching(/^[0-9a-f]{64}$/);
      const direct: [key: string, outcomes: Record<string, string>][] = [];
      // With the key first, while the gateway does not know of an outage yet.
      for (const key of [keys.user, ""]) {
        const outcomes = await callAll(legacy.url, key);
        expect(outcomes).toMatchObject({ "datasets.list_datasets()": digest, "study.get_suite(100)": digest });
        expect(await callAll(gateway.url, key)).toEqual(outcomes);
        direct.push([key, outcomes]);
      }
      // All that is stored is stale then.
      pass(8 * 3_600_000);
      await fetch(`${legacy.url}/outage/page-502`, { method: "POST" });
      for (const [key, outcomes] of direct) expect([key, await callAll(gateway.url, key)]).toEqual([key, outcomes]);
    },
  );
});
