import { join } from "node:path";
import { z } from "zod";
import { storedEntrySchema, storedLedgerSchema } from "../../../compare/ledger.ts";
import { formatOf, readJsonFile } from "../../../store/jsonFile.ts";
import { asTexts, parseAs, script } from "../../../store/redis/script.ts";
import type { EarlierKeys } from "../../../store/redis/redisStore.ts";
import { type MigrationRecord, moveSchema, migrationRecords, stageInForceSchema } from "./stateStore.ts";

/** Versions up to 0.1 stored the state in this file. */
const fileSchema = z.strictObject({
  format: formatOf(1),
  stages: z.record(z.string(), stageInForceSchema),
  audit: z.array(moveSchema),
  expected: storedLedgerSchema,
});

/** The state in `migration.json`, which stays as it is. Rejects, with the file's name, if it is not readable. */
export const readMigrationFile = async (directory: string): Promise<ReadonlyMap<string, MigrationRecord>> => {
  const file = join(directory, "migration.json");
  try {
    return migrationRecords((await readJsonFile(file, fileSchema)) ?? { stages: {}, audit: [], expected: [] });
  } catch (error) {
    const why = `${file} ${(error as Error).message}`;
    throw new Error(`${why}; it is left as it is: repair it, or move it away to begin with nothing set`, {
      cause: error,
    });
  }
};

const KEYS = ["stages", "audit", "expected"].map((name) => `catalog-gateway:1:migration:${name}`);

/** Two hashes of JSON by endpoint and by id, and a list of JSON between them, the newest first. */
const readScript = script(`
  return { redis.call('HGETALL', KEYS[1]), redis.call('LRANGE', KEYS[2], 0, -1), redis.call('HGETALL', KEYS[3]) }`);

const texts = z.array(z.string());
const replySchema = z.tuple([texts, texts, texts]);
const stageSchema = z.strictObject({ version: z.int(), stage: stageInForceSchema });

/** The state that versions up to 0.1 store in Redis. */
export const earlierMigrationKeys: EarlierKeys<MigrationRecord> = {
  version: "catalog-gateway:1:migration:version",
  async read(run) {
    const [stageTexts, lines, entryTexts] = replySchema.parse(asTexts(await run(readScript, KEYS, [])));
    const stages = valuesOf(stageTexts, (text) => parseAs(stageSchema, text)?.stage);
    const entries = valuesOf(entryTexts, (text) => parseAs(storedEntrySchema, text));
    const audit = lines.flatMap((text) => parseAs(moveSchema, text) ?? []);
    const expected = [...entries.good.values()];
    return {
      values: migrationRecords({ stages: Object.fromEntries(stages.good), audit, expected }),
      unreadable: [
        ...stages.bad.map((endpoint) => `stage/${endpoint}`),
        ...entries.bad.map((id) => `expected/${id}`),
        ...(audit.length < lines.length ? ["audit/a line"] : []),
      ],
    };
  },
};

/** The values of a hash, given as fields and texts in turn, and the fields whose value is not readable. */
const valuesOf = <T>(pairs: readonly string[], parse: (text: string) => T | undefined) => {
  const good = new Map<string, T>();
  const bad: string[] = [];
  for (let i = 0; i + 1 < pairs.length; i += 2) {
    const [field = "", text = ""] = pairs.slice(i, i + 2);
    const value = parse(text);
    if (value === undefined) bad.push(field);
    else good.set(field, value);
  }
  return { good, bad };
};
