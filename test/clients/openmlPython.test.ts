import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { startSampleLegacy } from "../../tools/sampleLegacy/startSampleLegacy.ts";
import { keys } from "../gateway/answer/support.ts";
import { clock } from "../gateway/cache/support.ts";
import { listeningGateway } from "../gateway/http/support.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { caching } from "./caching.ts";
import { moveAll, startMovedTo } from "./moving.ts";

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

/** The results with a key, which comes first, while the gateway does not know of an outage yet, and without. */
const callAsBoth = async (origin: string) => [await callAll(origin, keys.user), await callAll(origin, "")];

const digest = /^[0-9a-f]{64}$/;
/** The calls that give another result where modern answers, and why. */
const lossy: Record<string, string> = {
  "datasets.list_datasets(size=9)": "The rows of the new interface have no uploader.",
  "datasets.list_datasets(data_name='iris')": "The same.",
};

/** Calls all of a new sample legacy, then through the gateway. */
const openAll = async (settings: Record<string, string>) => {
  const legacy = await startSampleLegacy();
  onTestFinished(() => legacy.close());
  const gateway = await listeningGateway(legacy.url, settings);
  const direct = await callAsBoth(legacy.url);
  const found: unknown = expect.stringMatching(digest);
  const some = { "datasets.list_datasets(size=9)": found, "study.get_suite(100)": found };
  for (const outcomes of direct) expect(outcomes).toMatchObject(some);
  expect(await callAsBoth(gateway.url)).toEqual(direct);
  return { legacy, gateway, direct };
};

describe.skipIf(!sources)("openml-python, through the gateway", { timeout: 900_000 }, () => {
  test("gets the same while legacy is well and while it fails, with a key and without", async () => {
    const { pass } = clock();
    const { legacy, gateway, direct } = await openAll(caching);
    // All that is stored is stale then.
    pass(8 * 3_600_000);
    await fetch(`${legacy.url}/outage/page-502`, { method: "POST" });
    expect(await callAsBoth(gateway.url)).toEqual(direct);
  });

  test("with MOVE_LEGACY, modern answers while legacy is down, and each loss is named", async () => {
    const other = await startSampleLegacy();
    onTestFinished(() => other.close());
    const { settings, asked } = await startMovedTo(other.url);
    const { legacy, gateway, direct } = await openAll(settings);
    const endpoints = Object.values(gateway.features.migration.migration.view());
    expect(endpoints.filter(({ oldClients }) => oldClients?.unexplained)).toEqual([]);
    await moveAll(gateway, "the new interface was not asked");
    await legacy.close();

    const moved = await callAsBoth(gateway.url);
    for (const [i, outcomes] of moved.entries()) {
      const differing = Object.keys(outcomes).filter((call) => outcomes[call] !== direct[i]?.[call]);
      expect(differing).toEqual(Object.keys(lossy));
      for (const call of differing) expect([call, outcomes[call]]).toEqual([call, expect.stringMatching(digest)]);
    }
    expect(Object.keys(asked())).toEqual(expect.arrayContaining(["getFlow", "getRun", "getTask", "listRuns"]));
  });
});
