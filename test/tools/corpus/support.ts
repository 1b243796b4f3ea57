import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { trafficMapper } from "../../../tools/corpus/mapTraffic.ts";
import { readCorpus } from "../../../tools/corpus/readCorpus.ts";
import { endpoints } from "../../../transforms/index.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

export const KEY = "0".repeat(32);

export const mapper = trafficMapper(endpoints, { prefixes: ["/v1", "/api/v2"] });

/** The path of a file with this text, which is removed after the test. */
export const fileOf = (content: string | Buffer): string => {
  const directory = temporaryFolder();
  const file = join(directory, "traffic");
  writeFileSync(file, content);
  return file;
};

/** The requests of a corpus, and the number of its skipped lines by reason. */
export const taken = async (content: string | Buffer) => {
  const skipped: Record<string, number> = {};
  return { requests: await Array.fromAsync(readCorpus(fileOf(content), mapper, skipped)), skipped };
};
