import { z } from "zod";
import type { KeyValueStore, Stores } from "../../store/store.ts";
import { comparedSchema } from "./comparedRequests.ts";
import { type Move, type StageInForce, stageSchema } from "./stage.ts";

/** What survives a restart: the stages set at run time, and the audit log (newest first). */
export type MigrationState = {
  stages: Record<string, StageInForce>;
  audit: Move[];
};

/** The store of the migration's state. */
export type StateStore = {
  /** The state in force; the same object until it changes. */
  state(): MigrationState;
  /**
   * Sets one endpoint's stage and logs the move. False if another move came first: `seen` is the `since` of the stage that the caller saw,
   * or undefined if it was never set. Rejects if the write is not confirmed in time. It may still have succeeded; `onChange` then reports it.
   */
  move(endpoint: string, to: StageInForce, move: Move, seen: string | undefined): Promise<boolean>;
  /** The listener is called after another gateway has changed something, or Redis has lost it. */
  onChange(listener: () => void): void;
};

/** `of`: what made the answers that were compared. */
const evidenceSchema = z.strictObject({ of: z.string().max(100), requests: comparedSchema });

/** What was compared of an endpoint. */
export type EvidenceRecord = z.infer<typeof evidenceSchema>;

/** Opens what was compared, by endpoint. What cannot be read is collected anew. */
export const openEvidenceStore = ({ open }: Pick<Stores, "open">): Promise<KeyValueStore<EvidenceRecord>> =>
  open({ feature: "evidence", schema: () => evidenceSchema });

/** The stage and moves of an endpoint. */
type StageRecord = { stage: StageInForce; moves: Move[] };

/** Lines of the audit log. */
const MAX_MOVES = 1000;

const instant = z.iso.datetime({ offset: true });

/** A stage as it is stored. */
const stageInForceSchema: z.ZodType<StageInForce> = stageSchema.extend({
  since: instant,
  by: z.string(),
  why: z.string(),
  configured: z.string().optional(),
});

/** A line of the audit log as it is stored. */
const moveSchema: z.ZodType<Move> = z.strictObject({
  at: instant,
  endpoint: z.string().min(1),
  by: z.string(),
  why: z.string(),
  from: stageSchema,
  to: stageSchema,
  despite: z.string().optional(),
  all: instant.optional(),
});

const recordSchema = z.strictObject({ stage: stageInForceSchema, moves: z.array(moveSchema) });

const stateOf = (records: ReadonlyMap<string, StageRecord>): MigrationState => ({
  stages: Object.fromEntries([...records].map(([endpoint, { stage }]) => [endpoint, stage])),
  audit: [...records.values()]
    .flatMap(({ moves }) => moves)
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .slice(0, MAX_MOVES),
});

/** Opens the state. The start is refused where it cannot be read: the gateway must not guess the stages. */
export const openStateStore = async ({ open }: Pick<Stores, "open">): Promise<StateStore> => {
  const store = await open<StageRecord>({
    feature: "stages",
    schema: () => recordSchema,
    isVital: () => true,
    needsRedis: true,
  });
  let last: { of: ReadonlyMap<string, StageRecord>; state: MigrationState } | undefined;
  return {
    state() {
      const records = store.entries();
      if (last?.of !== records) last = { of: records, state: stateOf(records) };
      return last.state;
    },
    move: (endpoint, stage, move, seen) =>
      store.update(endpoint, (latest) => {
        if (latest?.stage.since !== seen) return undefined;
        return { stage, moves: [move, ...(latest?.moves ?? [])].slice(0, MAX_MOVES) };
      }),
    onChange: (listener) => store.onChange(listener),
  };
};
