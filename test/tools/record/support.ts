import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { legacyHandlers } from "../../../fixtures/legacyHandlers.ts";
import { readPairs } from "../../../fixtures/pairs.ts";
import { serveHandlers } from "../../../fixtures/serveHandlers.ts";
import { trafficMapper } from "../../../src/tools/corpus/mapTraffic.ts";
import { readCorpus } from "../../../src/tools/corpus/readCorpus.ts";
import { recordCommand } from "../../../src/tools/record/command.ts";
import type { RecordTools } from "../../../src/tools/record/job.ts";
import { catalogue } from "../../../transforms/catalogue.ts";
import { storedExchange } from "../../../src/tools/record/exchange.ts";
import { expectPair } from "../../fixtures/fixtureCheck.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

/** Runs the command in this process: its exit code, what it printed and complained of, and the names of the files it wrote. */
export const run = async (
  args: string,
  {
    folder = temporaryFolder(),
    environment = {},
    ...tools
  }: Partial<RecordTools> & { environment?: Record<string, string> } = {},
) => {
  const out: string[] = [];
  const errors: string[] = [];
  const code = await recordCommand(args.split(" "), environment, {
    catalogue,
    folder,
    async openReplay(exchanges) {
      const served = await serveHandlers();
      served.use(legacyHandlers(exchanges));
      return served;
    },
    print: (line) => void out.push(line),
    complain: (line) => void errors.push(line),
    readCorpus: (file) => readCorpus(file, trafficMapper(catalogue.endpoints)).requests,
    ...tools,
  });
  return { code, out, errors, folder, files: globSync("**/*.json", { cwd: folder }).toSorted() };
};

/** Everything in the files of a folder, as one text. */
export const everythingIn = (folder: string): string =>
  globSync("**/*.json", { cwd: folder })
    .map((path) => readFileSync(join(folder, path), "utf8"))
    .join("\n");

/** That every pair of a folder is a fixture like all others, written as all are, and passes. */
export const expectSound = async (folder: string): Promise<void> => {
  const legacy = await serveHandlers();
  const gateway = await gatewayFor(legacy.url, { CACHE_BYTES: "0" });
  try {
    for (const pair of readPairs("*", folder)) {
      await expectPair(pair, gateway, legacy);
      const { about, ask, legacy: exchanges } = pair;
      const path = join(folder, pair.endpoint, `${pair.example}.legacy.json`);
      const stored = { about, ask, legacy: exchanges.map(storedExchange) };
      expect(readFileSync(path, "utf8")).toBe(`${JSON.stringify(stored, undefined, 2)}\n`);
    }
  } finally {
    await gateway.close();
    await legacy.close();
  }
};
