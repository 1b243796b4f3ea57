import { join } from "node:path";
import { z } from "zod";
import { formatOf, readJsonFile } from "../../../store/jsonFile.ts";
import { asTexts, parseAs, script } from "../../../store/redis/script.ts";
import type { EarlierKeys } from "../../../store/redis/redisStore.ts";
import { rowSchema, walkSchema } from "../rows.ts";
import { type IndexRecord, indexRecords } from "./indexStore.ts";

/** Versions up to 0.1 kept the index in this file. */
const fileSchema = z.strictObject({
  format: formatOf(1),
  of: z.string(),
  walk: walkSchema,
  rows: z.array(rowSchema),
});

/**
 * The index in `private-rows.json`, which stays as it is. One that is not readable or of another legacy can be found anew: it is reported, and
 * left out.
 */
export const readIndexFile =
  (scope: string, onUnreadable: (about: { file: string; why: string }) => void) =>
  async (directory: string): Promise<ReadonlyMap<string, IndexRecord>> => {
    const file = join(directory, "private-rows.json");
    const nothing = new Map<string, IndexRecord>();
    try {
      const found = await readJsonFile(file, fileSchema);
      if (found === undefined) return nothing;
      if (found.of === scope) return indexRecords(found);
      onUnreadable({ file, why: "it is of another legacy" });
    } catch (error) {
      onUnreadable({ file, why: (error as Error).message });
    }
    return nothing;
  };

/** A text, and a hash of JSON by id. */
const readScript = script("return { redis.call('GET', KEYS[1]) or '', redis.call('HGETALL', KEYS[2]) }");
const replySchema = z.tuple([z.string(), z.array(z.string())]);

/** The index that versions up to 0.1 keep in Redis. Values that are not readable are left out. */
export const earlierIndexKeys = (scope: string): EarlierKeys<IndexRecord> => {
  const named = (name: string) => `catalog-gateway:1:private:${scope}:${name}`;
  return {
    version: named("version"),
    async read(run) {
      const [walkText, pairs] = replySchema.parse(asTexts(await run(readScript, [named("walk"), named("rows")], [])));
      const walk = parseAs(walkSchema, walkText);
      const rows = pairs.flatMap((text, i) => (i % 2 === 1 ? (parseAs(rowSchema, text) ?? []) : []));
      // Rows alone do not say which ids were looked at.
      return { values: walk === undefined ? new Map() : indexRecords({ rows, walk }) };
    },
  };
};
