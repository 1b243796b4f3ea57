import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { mapperOf } from "../../../src/tools/corpus/mapper.ts";
import { readCorpus } from "../../../src/tools/corpus/readCorpus.ts";
import { endpoints } from "../../../transforms/index.ts";

export const KEY = "0".repeat(32);

export const mapper = mapperOf(endpoints, { prefixes: ["/v1", "/api/v2"] });

/** A file of this text, gone when the test is. */
export const fileOf = (content: string | Buffer): string => {
  const directory = mkdtempSync(join(tmpdir(), "corpus-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "traffic");
  writeFileSync(file, content);
  return file;
};

/** All that is in a corpus. */
export const taken = async (content: string | Buffer) => {
  const { asks, counts } = readCorpus(fileOf(content), mapper);
  return { asks: await Array.fromAsync(asks), counts };
};
