import { z } from "zod";
import type { KeyValueStore, Stores } from "../../libraries/stores/keyValueStore.ts";
import { moveSchema, stageInForceSchema } from "./stage.ts";

/** The stage of an endpoint that was set at run time, and its moves, the newest first. */
const recordSchema = z.strictObject({ stage: stageInForceSchema, moves: z.array(moveSchema) });

/** The stored record of an endpoint. */
export type StageRecord = z.infer<typeof recordSchema>;

/** The records that survive a restart, by endpoint. */
export type StageStore = KeyValueStore<StageRecord>;

/**
 * Opens the stages that were set at run time.
 *
 * @throws If they cannot be read. The gateway then does not start: it must not guess the stages.
 */
export const openStageStore = ({ open }: Pick<Stores, "open">): Promise<StageStore> =>
  open({ feature: "stages", schema: () => recordSchema, isVital: true, needsRedis: true });
