import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startSampleLegacy } from "../../tools/sampleLegacy/startSampleLegacy.ts";
import { keys } from "../gateway/answer/support.ts";

/** The functions that one request ran, by file. */
type Line = { asked: string; status: number; visited: Record<string, string[]> };

/** The functions that each of these requests runs, one after the other. */
const visitsOf = async (requests: readonly string[]): Promise<Line[]> => {
  const { url, close } = await startSampleLegacy();
  try {
    const program = join(import.meta.dirname, "visits.ts");
    const env = { ...process.env, VISITOR_KEY: keys.owner };
    const { stdout } = await promisify(execFile)(process.execPath, [program, url, ...requests], { env });
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
  } finally {
    await close();
  }
};

const functionsOf = ({ visited }: Line): number => Object.values(visited).flat().length;

/** The most files and functions of the project that a request runs: as many as it did when this was written. */
const most = {
  hit: [17, 42],
  miss: [77, 277],
  passThrough: [35, 145],
  write: [85, 326],
} as const;

test("a hit, a miss, a pass-through and a write run no more functions than they did", async () => {
  const [again, other, proxied] = ["GET /v1/datasets/61", "GET /v1/datasets/2", "GET /api/v1/json/data/61"];
  const write = (tag: string) => `POST /v1/datasets/tag {"data_id":2,"tag":"${tag}"}`;
  const hits = Array.from({ length: 8 }, () => again);
  const lines = await visitsOf([...hits, other, proxied, proxied, write("a"), write("b")]);
  // Work that is done only once is over by the second request. A hit rewrites its headers after a second: of
  // some, the shortest counts.
  const [hit] = lines.slice(2, 8).toSorted((a, b) => functionsOf(a) - functionsOf(b)) as [Line];
  const [miss, , passThrough, , written] = lines.slice(8) as [Line, Line, Line, Line, Line];
  const ran = Object.entries({ hit, miss, passThrough, write: written });
  expect(ran.map(([, { status }]) => status)).toEqual([200, 200, 200, 200]);
  const tooMany = ran.flatMap(([name, line]) => {
    const [mostFiles, mostFunctions] = most[name as keyof typeof most];
    const [files, functions] = [Object.keys(line.visited).length, functionsOf(line)];
    return files > mostFiles || functions > mostFunctions ? [{ name, files, functions, visited: line.visited }] : [];
  });
  expect(tooMany).toEqual([]);
});
