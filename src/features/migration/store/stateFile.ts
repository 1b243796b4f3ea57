import { join } from "node:path";
import { z } from "zod";
import { storedLedgerSchema } from "../../../compare/ledger.ts";
import { formatOf, readJsonFile, writeDurably } from "../../../store/jsonFile.ts";
import { nothingSet } from "./nextState.ts";
import { moveSchema, stageInForceSchema } from "./schemas.ts";
import type { MigrationState } from "./stateStore.ts";

const FORMAT = 1;

const schema = z.strictObject({
  format: formatOf(FORMAT),
  stages: z.record(z.string(), stageInForceSchema),
  audit: z.array(moveSchema),
  expected: storedLedgerSchema,
});

const nameIn = (directory: string): string => join(directory, "migration.json");

/** What the directory's file holds; nothing set where there is none. Throws where it is not understood, and leaves it as it is. */
export const readState = async (directory: string): Promise<MigrationState> => {
  const file = nameIn(directory);
  try {
    const { format: _, ...state } = (await readJsonFile(file, schema)) ?? { format: FORMAT, ...nothingSet };
    return state;
  } catch (error) {
    const why = `${file} ${(error as Error).message}`;
    throw new Error(`${why}; it is left as it is: repair it, or move it away to begin with nothing set`, {
      cause: error,
    });
  }
};

export const writeState = (directory: string, state: MigrationState): Promise<void> =>
  writeDurably(nameIn(directory), `${JSON.stringify({ format: FORMAT, ...state }, null, 2)}\n`);
