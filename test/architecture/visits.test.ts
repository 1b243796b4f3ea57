import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { keys } from "../gateway/answer/support.ts";

/** Functions by file, those without a name as `()`. */
type Visited = Record<string, string[]>;
/** The same with the names of a file in one text. */
type Known = Record<string, string>;
type Line = { asked: string; status: number; visited: Visited };

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

const functionsOf = ({ visited }: Pick<Line, "visited">): number => Object.values(visited).flat().length;

/** What the requests ran when the bounds were set. `UPDATE_VISITS=1` writes it anew. */
const knownFile = join(import.meta.dirname, "visited.json");

/** Names of functions, as `file name`; one that stands there more often than before is new. */
const newIn = (visited: Visited, known: Known): string[] =>
  Object.entries(visited).flatMap(([file, names]) => {
    const left = (known[file] ?? "").split(" ");
    return names.flatMap((name) => {
      const place = left.indexOf(name);
      if (place !== -1) left.splice(place, 1);
      return place === -1 ? [`${file} ${name}`] : [];
    });
  });

const knownOf = (visited: Visited): Known =>
  Object.fromEntries(Object.entries(visited).map(([file, names]) => [file, names.join(" ")]));

/** The most files and functions of `src` and `transforms` that a request runs: a tenth more than it did when this was written. */
const most = { hit: [17, 42], miss: [75, 292], passThrough: [34, 149], write: [82, 342] };

test("a hit, a miss, a pass-through and a write run no more functions than they did", async () => {
  const [again, other, proxied] = ["GET /v1/datasets/61", "GET /v1/datasets/2", "GET /api/v1/json/data/61"];
  const write = (tag: string) => `POST /v1/datasets/tag {"data_id":2,"tag":"${tag}"}`;
  const hits = Array.from({ length: 8 }, () => again);
  const lines = await visitsOf([...hits, other, proxied, proxied, write("a"), write("b")]);
  // What is done once is done by the second time. A hit writes its headers anew where a second has passed: of some, the shortest counts.
  const [hit] = lines.slice(2, 8).toSorted((a, b) => functionsOf(a) - functionsOf(b)) as [Line];
  const [miss, , passThrough, , written] = lines.slice(8) as [Line, Line, Line, Line, Line];
  const ran = Object.entries({ hit, miss, passThrough, write: written });
  expect(ran.map(([, { status }]) => status)).toEqual([200, 200, 200, 200]);
  if (process.env["UPDATE_VISITS"] === "1")
    writeFileSync(
      knownFile,
      JSON.stringify(Object.fromEntries(ran.map(([name, { visited }]) => [name, knownOf(visited)]))),
    );
  const known = JSON.parse(readFileSync(knownFile, "utf8")) as Record<string, Known>;
  const tooMany = ran.flatMap(([name, { visited }]) => {
    const [mostFiles = 0, mostFunctions = 0] = most[name as keyof typeof most];
    const [files, functions] = [Object.keys(visited).length, functionsOf({ visited })];
    const isMore = files > mostFiles || functions > mostFunctions;
    return isMore ? [{ name, files, functions, new: newIn(visited, known[name] ?? {}) }] : [];
  });
  expect(tooMany).toEqual([]);
});
