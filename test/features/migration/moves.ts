import type { Move, StageInForce, StageName } from "../../../src/features/migration/stage.ts";
import type { StateStore } from "../../../src/features/migration/stateStore.ts";

/** `2027-01-01T00:00:07.000Z` for 7: a time for each of a test's moves. */
export const at = (second: number): string => new Date(Date.UTC(2027, 0, 1, 0, 0, second)).toISOString();

export const stage = (second: number, name: StageName = "shadow", share = 10): StageInForce => ({
  stage: name,
  share,
  since: at(second),
  by: "olga",
  why: `reason ${second}`,
});

export const moveTo = (endpoint: string, to: StageInForce): Move => ({
  at: to.since,
  endpoint,
  by: to.by,
  why: to.why,
  from: { stage: "legacy", share: 100 },
  to: { stage: to.stage, share: to.share },
});

/** Moves an endpoint from what the store says is in force. */
export const moveOn = (store: StateStore, endpoint: string, second: number, name?: StageName): Promise<boolean> => {
  const to = stage(second, name);
  return store.move(endpoint, to, moveTo(endpoint, to), store.state().stages[endpoint]?.since);
};
