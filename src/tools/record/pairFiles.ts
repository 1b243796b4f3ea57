import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Exchange, FixtureAsk } from "./exchange.ts";

/** The two files of one pair. */
export type PairFiles = { legacy: string; expected: string };

export const pairFiles = (folder: string, endpoint: string, example: string): PairFiles => ({
  legacy: join(folder, endpoint, `${example}.legacy.json`),
  expected: join(folder, endpoint, `${example}.expected.json`),
});

/** Why these files may not be written: a line for each that is there already. */
export const refusedFiles = (pairs: readonly PairFiles[], force: boolean): string[] =>
  pairs
    .flatMap(({ legacy, expected }) => [legacy, expected])
    .filter((path) => !force && existsSync(path))
    .map((path) => `${path} is there already; allowed is another name, or --force`);

/** A fixture as all of them are written. */
export const fixtureText = (document: unknown): string => `${JSON.stringify(document, undefined, 2)}\n`;

export const writePair = (
  files: PairFiles,
  { about, ask, legacy }: { about: string; ask: FixtureAsk; legacy: Exchange[] },
  { status, body }: { status: number; body: unknown },
): void => {
  mkdirSync(dirname(files.legacy), { recursive: true });
  writeFileSync(files.legacy, fixtureText({ about, ask, legacy }));
  writeFileSync(files.expected, fixtureText({ status, body }));
};
