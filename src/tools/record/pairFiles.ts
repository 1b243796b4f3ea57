import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Exchange, type FixtureAsk, storedExchange } from "./exchange.ts";

/** The two files of one pair. */
export type PairFiles = { legacy: string; expected: string };

/** Where the pair of this name lies below `folder`. */
export const pairFiles = (folder: string, endpoint: string, example: string): PairFiles => ({
  legacy: join(folder, endpoint, `${example}.legacy.json`),
  expected: join(folder, endpoint, `${example}.expected.json`),
});

/** A line for each file that exists; with `force`, none. */
export const refusedFiles = (pairs: readonly PairFiles[], force: boolean): string[] =>
  pairs
    .flatMap(({ legacy, expected }) => [legacy, expected])
    .filter((path) => !force && existsSync(path))
    .map((path) => `${path} is there already; allowed is another name, or --force`);

/** A document in the format of fixture files: JSON, indented by two. */
export const fixtureText = (document: unknown): string => `${JSON.stringify(document, undefined, 2)}\n`;

/** Writes both files of a pair, over files that exist. */
export const writePair = (
  files: PairFiles,
  { about, ask, legacy }: { about: string; ask: FixtureAsk; legacy: Exchange[] },
  { status, body }: { status: number; body: unknown },
): void => {
  mkdirSync(dirname(files.legacy), { recursive: true });
  writeFileSync(files.legacy, fixtureText({ about, ask, legacy: legacy.map(storedExchange) }));
  writeFileSync(files.expected, fixtureText({ status, body }));
};
