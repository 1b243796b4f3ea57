import { z } from "zod";
import type { KeyValueStore, Stores } from "../../libraries/stores/keyValueStore.ts";
import {
  type AuditMove,
  type ConfiguredStage,
  isSameStage,
  type Move,
  type MoveNote,
  moveSchema,
  type Stage,
  type StageInForce,
  stageInForceSchema,
} from "./stage.ts";

/** The stage of an endpoint that was set at run time, and its moves, the newest first. */
const recordSchema = z.strictObject({ stage: stageInForceSchema, moves: z.array(moveSchema) });

/** The records that survive a restart, by endpoint. */
export type StageStore = KeyValueStore<z.infer<typeof recordSchema>>;

/**
 * Opens the stages that were set at run time.
 *
 * @throws If they cannot be read. The gateway then does not start: it must not guess the stages.
 */
export const openStageStore = ({ open }: Pick<Stores, "open">): Promise<StageStore> =>
  open({ feature: "stages", schema: () => recordSchema, isVital: true, needsRedis: true });

/** Lines of the audit log. */
const MAX_MOVES = 1000;

type StagesSettings = {
  store: StageStore;
  endpoints: readonly string[];
  configured: Readonly<Record<string, ConfiguredStage>>;
  /** Called for every endpoint that has a new stage or share. */
  onMove: (endpoint: string, from: StageInForce, to: StageInForce) => void;
  /** Called with the endpoints whose stage Redis has lost: their configured stages are in force. */
  onLost: (endpoints: string[]) => void;
  /** Called with each line of the audit log that this process has stored. */
  onStored: (move: Move) => void;
  /** Called if a configured stage could not be stored. It stays in force in this gateway until the process ends. */
  onUnwritten: (endpoint: string, error: Error) => undefined;
  now?: () => Date;
};

const defaultStage: Stage = { stage: "legacy", share: 100 };

/**
 * Opens the stages in force: those set at run time, unless the configuration has changed since. A configuration that
 * has changed since they were stored is applied in the background.
 */
export const openStages = ({
  store,
  endpoints,
  configured: first,
  onMove,
  onLost,
  onStored,
  onUnwritten,
  now = () => new Date(),
}: StagesSettings) => {
  let configured = first;
  /** The stages in force. All of them are exchanged at once. */
  let stages = new Map<string, StageInForce>();
  /** Configured stages in force that the store does not have yet. */
  const unwritten = new Map<string, StageInForce>();
  /** The records of the store when it was read last, and those that Redis has lost. */
  let stored = store.entries();
  const lost = new Map<string, z.infer<typeof recordSchema>>();

  const configuredStage = (endpoint: string): Stage => stageAndShare(configured[endpoint] ?? defaultStage);
  const configuredText = (endpoint: string): string => JSON.stringify(configuredStage(endpoint));

  const stageFromNow = (to: Stage, endpoint: string, by: string, why: string): StageInForce => ({
    ...stageAndShare(to),
    since: now().toISOString(),
    by,
    why,
    configured: configuredText(endpoint),
  });
  const fromConfiguration = (endpoint: string, why: string): StageInForce =>
    stageFromNow(configuredStage(endpoint), endpoint, "configuration", why);

  const unmoved = (endpoint: string): StageInForce =>
    stages.get(endpoint) ?? fromConfiguration(endpoint, configured[endpoint] ? "as configured" : "default");
  /** The stage that was set last, also by a gateway with another configuration; `otherwise` if no stage was set. */
  const inForce = (endpoint: string, otherwise = unmoved): StageInForce => {
    const set = store.get(endpoint)?.stage;
    const pending = unwritten.get(endpoint);
    if (set === undefined) return pending ?? otherwise(endpoint);
    return pending === undefined || pending.since < set.since ? set : pending;
  };
  const afterLoss = (endpoint: string): StageInForce =>
    fromConfiguration(endpoint, "Redis has lost the stage that was set");

  /** The last move of an endpoint, if it was part of a move of many and is not an undo. */
  const undoableMove = (endpoint: string): Move | undefined => {
    const moves = store.get(endpoint)?.moves ?? [];
    return moves[0]?.all === undefined || isUndo(moves) ? undefined : moves[0];
  };
  /** The stage of the last move of many endpoints; `undefined` if it was undone, or all of them have moved since. */
  const lastDestination = (): Stage | undefined => {
    const times = endpoints.flatMap((name) => store.get(name)?.moves[0]?.all ?? []);
    const last = times.toSorted().at(-1);
    return endpoints.map(undoableMove).find((move) => move !== undefined && move.all === last)?.to;
  };
  let destination = lastDestination();

  /** Reads all stages again, exchanges them at once, and reports those that have moved. */
  const refresh = (): void => {
    const before = stages;
    const isGone = (name: string) => endpoints.includes(name) && store.get(name) === undefined;
    const gone = new Map([...stored].filter(([name]) => isGone(name)));
    for (const [name, record] of gone) lost.set(name, record);
    stored = store.entries();
    destination = lastDestination();
    stages = new Map(endpoints.map((name) => [name, inForce(name, gone.has(name) ? afterLoss : unmoved)]));
    for (const [name, to] of stages) {
      const from = before.get(name);
      if (from && hasMoved(from, to)) onMove(name, from, to);
    }
    if (gone.size > 0) onLost([...gone.keys()]);
  };

  /** Stores a stage and its line of the audit log, unless another gateway has moved the endpoint meanwhile. */
  const storeMove = async (endpoint: string, from: Stage, to: StageInForce, note: MoveNote = {}): Promise<boolean> => {
    const { since: at, by, why } = to;
    const move: Move = { at, endpoint, by, why, ...note, from: stageAndShare(from), to: stageAndShare(to) };
    const seen = store.get(endpoint)?.stage.since;
    const isStored = await store.update(endpoint, (latest) =>
      latest?.stage.since === seen
        ? // The moves that Redis has lost come back with the next move.
          { stage: to, moves: [move, ...((latest ?? lost.get(endpoint))?.moves ?? [])].slice(0, MAX_MOVES) }
        : undefined,
    );
    if (isStored) onStored(move);
    return isStored;
  };

  /**
   * Stores that an endpoint has its configured stage now, unless another gateway has moved it
   * meanwhile. This is not a move.
   */
  const storeConfigured = async (endpoint: string, { since, configured: text }: StageInForce): Promise<boolean> => {
    if (store.get(endpoint) === undefined) return true;
    return store.update(endpoint, (latest) =>
      latest?.stage.since === since ? { ...latest, stage: { ...latest.stage, configured: text } } : undefined,
    );
  };

  /**
   * Puts configured stages in force at once. Then stores them, so that the other gateways and a restart use the same.
   */
  const applyConfiguration = async (names: readonly string[]): Promise<void> => {
    const before = new Map(names.map((name) => [name, inForce(name)]));
    for (const [name, from] of before) {
      const isThere = isSameStage(from, configuredStage(name));
      const there = { ...from, configured: configuredText(name) };
      unwritten.set(name, isThere ? there : fromConfiguration(name, "the configuration changed"));
    }
    refresh();
    for (const [endpoint, from] of before) {
      const to = unwritten.get(endpoint) as StageInForce;
      const writing = isSameStage(from, to) ? storeConfigured(endpoint, to) : storeMove(endpoint, from, to);
      const written = await writing.catch((error: Error) => onUnwritten(endpoint, error));
      // `false`: another move came first, and stays in force.
      if (written !== undefined) unwritten.delete(endpoint);
    }
    refresh();
  };

  /** The endpoints whose configuration has changed since their stage was stored: while the gateway was stopped. */
  const changedWhileStopped = (): string[] =>
    endpoints.filter((name) => {
      const was = store.get(name)?.stage.configured;
      return was !== undefined && was !== configuredText(name);
    });

  refresh();
  store.onChange(refresh);
  const changed = changedWhileStopped();
  if (changed.length > 0)
    applyConfiguration(changed).catch((error: Error) => changed.forEach((name) => onUnwritten(name, error)));

  const of = (endpoint: string) => stages.get(endpoint) as StageInForce;

  /** The stage that was set for this endpoint, if Redis has lost it and no other stage was set since. */
  const lostStage = (endpoint: string): Stage | undefined => {
    const stage = lost.get(endpoint)?.stage;
    const isBack = store.get(endpoint) !== undefined;
    return stage === undefined || isBack || isSameStage(of(endpoint), stage) ? undefined : stageAndShare(stage);
  };

  return {
    of,
    /** The gate of the configuration. */
    gateOf: (endpoint: string) => configured[endpoint]?.gate,
    /**
     * The move of many endpoints that can be undone for this endpoint: the last, or an earlier move to the same stage.
     * `undefined` if the endpoint was not part of it, or has moved since.
     */
    undoable(endpoint: string): Move | undefined {
      const move = undoableMove(endpoint);
      return move !== undefined && destination !== undefined && isSameStage(move.to, destination) ? move : undefined;
    },
    lost: lostStage,
    /** All moves, the newest first. */
    audit: (): AuditMove[] =>
      [...store.entries().values()]
        .flatMap(({ moves }) => moves.map((move, i) => (isUndo(moves, i) ? { ...move, undo: true as const } : move)))
        .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
        .slice(0, MAX_MOVES),
    /**
     * Moves one endpoint. If it has this stage and share already, nothing changes, unless Redis has lost another stage.
     *
     * @returns False if another move came first.
     * @throws If the store does not confirm the write.
     */
    async move(endpoint: string, to: Stage, by: string, why: string, note?: MoveNote): Promise<boolean> {
      if (isSameStage(of(endpoint), to) && lostStage(endpoint) === undefined) return true;
      const moved = await storeMove(endpoint, of(endpoint), stageFromNow(to, endpoint, by, why), note);
      if (moved) unwritten.delete(endpoint);
      refresh();
      return moved;
    },
    /**
     * Applies a new configuration, except where another gateway has applied it already. Endpoints that it
     * does not name are `legacy`.
     */
    async configure(next: Readonly<Record<string, ConfiguredStage>>): Promise<void> {
      const before = new Map(endpoints.map((name) => [name, configuredText(name)]));
      configured = next;
      const isNew = (name: string) =>
        before.get(name) !== configuredText(name) && inForce(name).configured !== configuredText(name);
      await applyConfiguration(endpoints.filter(isNew));
    },
  };
};

/** True if a move of an endpoint takes back the move before it. `moves`: those of the endpoint, the newest first. */
const isUndo = (moves: readonly Move[], at = 0): boolean =>
  moves[at]?.all !== undefined && moves[at].all === moves[at + 1]?.all;

const hasMoved = (from: StageInForce, to: StageInForce): boolean => !isSameStage(from, to) || from.since !== to.since;

const stageAndShare = ({ stage, share }: Stage): Stage => ({ stage, share });
