import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { legacyHandlers } from "../../../fixtures/legacyHandlers.ts";
import { readPairs } from "../../../fixtures/pairs.ts";
import { serveHandlers } from "../../../fixtures/serveHandlers.ts";
import { recordCommand } from "../../../tools/record/command.ts";
import type { Exchange, StoredCase } from "../../../fixtures/exchange.ts";
import { storedExchange } from "../../../tools/record/exchange.ts";
import { fixtureText } from "../../../tools/record/saveCase.ts";
import { expectPair } from "../../fixtures/fixtureCheck.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { runTool } from "../runTool.ts";

/**
 * Runs the command in this process: its exit code, what it printed and complained of, and the
 * names of the files it wrote.
 */
export const run = async (
  args: string,
  { folder = temporaryFolder(), environment = {} }: { folder?: string; environment?: Record<string, string> } = {},
) => {
  const openReplay = (exchanges: Exchange[]) => serveHandlers(...legacyHandlers(exchanges));
  const ended = await runTool(
    (command, tools) => recordCommand(command, { ...tools, folder, openReplay }),
    args.split(" "),
    environment,
  );
  return { ...ended, folder, files: globSync("**/*.json", { cwd: folder }).toSorted() };
};

/** Everything in the files of a folder, as one text. */
export const everythingIn = (folder: string): string =>
  globSync("**/*.json", { cwd: folder })
    .map((path) => readFileSync(join(folder, path), "utf8"))
    .join("\n");

/** Expects every pair of a folder to be a fixture like all others, formatted alike, that passes. */
export const expectSound = async (folder: string): Promise<void> => {
  const legacy = await serveHandlers();
  const gateway = await gatewayFor(legacy.url, { CACHE_BYTES: "0" });
  try {
    for (const pair of readPairs("*", folder)) {
      await expectPair(pair, gateway, legacy);
      const text = readFileSync(join(folder, `${pair.endpoint}.json`), "utf8");
      const cases = JSON.parse(text) as Record<string, StoredCase>;
      expect(text).toBe(await fixtureText(cases));
      expect(cases[pair.example]?.legacy).toEqual(pair.legacy.map(storedExchange));
    }
  } finally {
    await gateway.close();
    await legacy.close();
  }
};
