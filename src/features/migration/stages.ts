import {
  type Destination,
  type Gate,
  gateChangeOf,
  type Move,
  movedAt,
  type MoveNote,
  type Stage,
  type StageInForce,
} from "./stage.ts";
import type { StateStore } from "./store/stateStore.ts";

/** The stages in force: what was set at run time, unless the configuration has changed since. */
type Stages = {
  of(endpoint: string): StageInForce;
  /** Moves one endpoint; false if another move came first. Rejects if the store does not confirm the write. */
  move(endpoint: string, to: Destination, by: string, why: string, note?: MoveNote): Promise<boolean>;
  /** Changes or removes (`null`) a gate; the endpoint stays where it is. Resolves and rejects as `move` does. */
  setGate(endpoint: string, gate: Gate | null, by: string, why: string): Promise<boolean>;
  /** Applies a new configuration. Endpoints that it does not name are `legacy`. */
  configure(configured: Readonly<Record<string, Stage>>): Promise<void>;
};

type StagesSettings = {
  store: StateStore;
  endpoints: readonly string[];
  configured: Readonly<Record<string, Stage>>;
  /** Called for every endpoint that has a new stage or share. */
  onMove: (endpoint: string, from: StageInForce, to: StageInForce) => void;
  /** Called for every endpoint that has another gate, or none, and has not moved. */
  onGate: (endpoint: string) => void;
  /** Called with each line of the audit log that this process has stored. */
  onStored: (move: Move) => void;
  /** Called if a configured stage could not be stored. It stays in force in this gateway until the process ends. */
  onUnwritten: (endpoint: string, error: Error) => undefined;
  now?: () => Date;
};

const defaultStage: Stage = { stage: "legacy", share: 100 };

/** Opens the stages over a store. A configuration that has changed since they were stored is applied in the background. */
export const openStages = ({
  store,
  endpoints,
  configured: first,
  onMove,
  onGate,
  onStored,
  onUnwritten,
  now = () => new Date(),
}: StagesSettings): Stages => {
  let configured = first;
  let stages = new Map<string, StageInForce>();

  const configuredStage = (endpoint: string): Stage => configured[endpoint] ?? defaultStage;

  /** Configured stages that the store does not have yet. */
  const unwritten = new Map<string, StageInForce>();

  const fromConfiguration = (endpoint: string, why: string): StageInForce =>
    stageOfConfiguration(configuredStage(endpoint), now(), why);

  /** The stage that was set last, also by a gateway with another configuration. */
  const inForce = (endpoint: string): StageInForce => {
    const set = store.state().stages[endpoint];
    const pending = unwritten.get(endpoint);
    if (set !== undefined && (pending === undefined || pending.since < set.since)) return set;
    return (
      pending ?? stages.get(endpoint) ?? fromConfiguration(endpoint, configured[endpoint] ? "as configured" : "default")
    );
  };

  /** Reads all stages again, exchanges them at once, and reports those that have moved. */
  const refresh = () => {
    const before = stages;
    stages = new Map(endpoints.map((name) => [name, inForce(name)]));
    for (const [name, to] of stages) {
      const from = before.get(name);
      if (from && hasMoved(from, to)) onMove(name, from, to);
      else if (from && from.since !== to.since) onGate(name);
    }
  };

  /** Puts configured stages in force at once. Then stores them, so that the other gateways and a restart use the same. */
  const applyConfiguration = async (names: readonly string[]): Promise<void> => {
    const before = stages;
    for (const name of names) unwritten.set(name, fromConfiguration(name, "the configuration changed"));
    refresh();
    for (const endpoint of names) {
      const to = unwritten.get(endpoint) as StageInForce;
      const from = before.get(endpoint) ?? store.state().stages[endpoint] ?? to;
      const written = await storeMove({ store, onStored }, endpoint, from, to).catch((error: Error) =>
        onUnwritten(endpoint, error),
      );
      // `false`: another move came first, and stays in force.
      if (written !== undefined) unwritten.delete(endpoint);
    }
    refresh();
  };

  refresh();
  store.onChange(refresh);
  // The configuration may have changed while the gateway was stopped.
  const changedMeanwhile = endpoints.filter((name) => {
    const was = store.state().stages[name]?.configured;
    return was !== undefined && was !== JSON.stringify(configuredStage(name));
  });
  if (changedMeanwhile.length > 0) void applyConfiguration(changedMeanwhile);

  const of = (endpoint: string): StageInForce =>
    stages.get(endpoint) ?? { ...defaultStage, since: "", by: "", why: "" };

  const move: Stages["move"] = async (endpoint, to, by, why, note) => {
    const from = of(endpoint);
    const gate = to.gate === null ? undefined : (to.gate ?? from.gate);
    const configuredAs = JSON.stringify(configuredStage(endpoint));
    const set = { ...stageAndShare(to), since: now().toISOString(), by, why, configured: configuredAs };
    const change = { at: set.since, by, why, ...note };
    const moved = await storeMove({ store, onStored }, endpoint, from, gate ? { ...set, gate } : set, change);
    if (moved) unwritten.delete(endpoint);
    refresh();
    return moved;
  };

  const setGate = async (endpoint: string, gate: Gate | null, by: string, why: string): Promise<boolean> => {
    const { gate: from, ...at } = of(endpoint);
    const since = now().toISOString();
    const set = { ...at, since, movedAt: movedAt(at), configured: JSON.stringify(configuredStage(endpoint)) };
    const change = { at: since, by, why, gate: gateChangeOf(from, gate) };
    const isSet = await storeMove({ store, onStored }, endpoint, at, gate ? { ...set, gate } : set, change);
    if (isSet) unwritten.delete(endpoint);
    refresh();
    return isSet;
  };

  const configure = async (next: Readonly<Record<string, Stage>>): Promise<void> => {
    const before = new Map(endpoints.map((name) => [name, JSON.stringify(configuredStage(name))]));
    configured = next;
    await applyConfiguration(endpoints.filter((name) => before.get(name) !== JSON.stringify(configuredStage(name))));
  };

  return { of, move, setGate, configure };
};

const stageOfConfiguration = (stage: Stage, at: Date, why: string): StageInForce => ({
  ...stage,
  since: at.toISOString(),
  by: "configuration",
  why,
  configured: JSON.stringify(stage),
});

const hasMoved = (from: StageInForce, to: StageInForce): boolean =>
  from.stage !== to.stage || from.share !== to.share || movedAt(from) !== movedAt(to);

const stageAndShare = ({ stage, share }: Pick<Stage, "stage" | "share">) => ({ stage, share });

/** Stores a stage and its line of the audit log, unless another gateway has moved the endpoint meanwhile. */
const storeMove = async (
  { store, onStored }: Pick<StagesSettings, "store" | "onStored">,
  endpoint: string,
  from: Stage,
  to: StageInForce,
  change: Omit<Move, "endpoint" | "from" | "to"> = { at: to.since, by: to.by, why: to.why },
): Promise<boolean> => {
  const move: Move = { ...change, endpoint, from: stageAndShare(from), to: stageAndShare(to) };
  const isStored = await store.move(endpoint, to, move, store.state().stages[endpoint]?.since);
  if (isStored) onStored(move);
  return isStored;
};
