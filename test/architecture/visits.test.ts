import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";

type Line = { path: string; status: number; visited: Record<string, string[]> };

/** The functions that each of these requests runs, one after the other. */
const visitsOf = async (paths: readonly string[]): Promise<Line[]> => {
  const { url, close } = await startSampleLegacy();
  try {
    const program = join(import.meta.dirname, "visits.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [program, url, ...paths]);
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
  } finally {
    await close();
  }
};

// The bounds are generous: what is shown is the next hook that runs on every request.
test("a hit, a miss and a pass-through run few functions", async () => {
  const [again, other, proxied] = ["/v1/datasets/61", "/v1/datasets/2", "/api/v1/json/data/61"];
  const lines = await visitsOf([again, again, again, again, other, proxied, proxied]);
  const most = { [again]: [20, 55], [other]: [71, 295], [proxied]: [28, 150] };
  // What is done once is done by then. On a busy machine a second may have passed, and the hit writes its headers anew.
  for (const { path, status, visited } of [lines[3], lines[4], lines[6]] as Line[]) {
    const files = Object.keys(visited).length;
    const functions = Object.values(visited).flat().length;
    const [mostFiles = 0, mostFunctions = 0] = most[path] ?? [];
    expect(status).toBe(200);
    expect({ path, files }).toEqual({ path, files: expect.toSatisfy((n: number) => n > 0 && n <= mostFiles) });
    expect({ visited, functions }).toEqual({ visited, functions: expect.toSatisfy((n: number) => n <= mostFunctions) });
  }
});
