import type { ConfiguredStage, Gate, Move, MoveNote, Stage, StageInForce } from "./stage.ts";
import type { StateStore } from "./stateStore.ts";

/** The stages in force: what was set at run time, unless the configuration has changed since. */
type Stages = {
  of(endpoint: string): StageInForce;
  /** The gate of the configuration. */
  gateOf(endpoint: string): Gate | undefined;
  /** Moves one endpoint; false if another move came first. Rejects if the store does not confirm the write. */
  move(endpoint: string, to: Stage, by: string, why: string, note?: MoveNote): Promise<boolean>;
  /** Applies a new configuration. Endpoints that it does not name are `legacy`. */
  configure(configured: Readonly<Record<string, ConfiguredStage>>): Promise<void>;
};

type StagesSettings = {
  store: StateStore;
  endpoints: readonly string[];
  configured: Readonly<Record<string, ConfiguredStage>>;
  /** Called for every endpoint that has a new stage or share. */
  onMove: (endpoint: string, from: StageInForce, to: StageInForce) => void;
  /** Called with the endpoints whose stage Redis has lost: the configured one holds. */
  onLost: (endpoints: string[]) => void;
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
  onLost,
  onStored,
  onUnwritten,
  now = () => new Date(),
}: StagesSettings): Stages => {
  let configured = first;
  let stages = new Map<string, StageInForce>();
  let stored = store.state().stages;

  const configuredStage = (endpoint: string): Stage => stageAndShare(configured[endpoint] ?? defaultStage);

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
    const found = store.state().stages;
    const lost = endpoints.filter((name) => stored[name] !== undefined && found[name] === undefined);
    stored = found;
    stages = new Map(stages);
    for (const name of lost) stages.set(name, fromConfiguration(name, "Redis has lost the stage that was set"));
    stages = new Map(endpoints.map((name) => [name, inForce(name)]));
    for (const [name, to] of stages) {
      const from = before.get(name);
      if (from && hasMoved(from, to)) onMove(name, from, to);
    }
    if (lost.length > 0) onLost(lost);
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
    const configuredAs = JSON.stringify(configuredStage(endpoint));
    const set = { ...stageAndShare(to), since: now().toISOString(), by, why, configured: configuredAs };
    const moved = await storeMove({ store, onStored }, endpoint, of(endpoint), set, note);
    if (moved) unwritten.delete(endpoint);
    refresh();
    return moved;
  };

  const configure = async (next: Readonly<Record<string, ConfiguredStage>>): Promise<void> => {
    const before = new Map(endpoints.map((name) => [name, JSON.stringify(configuredStage(name))]));
    configured = next;
    await applyConfiguration(endpoints.filter((name) => before.get(name) !== JSON.stringify(configuredStage(name))));
  };

  return { of, gateOf: (endpoint) => configured[endpoint]?.gate, move, configure };
};

const stageOfConfiguration = (stage: Stage, at: Date, why: string): StageInForce => ({
  ...stage,
  since: at.toISOString(),
  by: "configuration",
  why,
  configured: JSON.stringify(stage),
});

const hasMoved = (from: StageInForce, to: StageInForce): boolean =>
  from.stage !== to.stage || from.share !== to.share || from.since !== to.since;

const stageAndShare = ({ stage, share }: Stage): Stage => ({ stage, share });

/** Stores a stage and its line of the audit log, unless another gateway has moved the endpoint meanwhile. */
const storeMove = async (
  { store, onStored }: Pick<StagesSettings, "store" | "onStored">,
  endpoint: string,
  from: Stage,
  to: StageInForce,
  note: MoveNote = {},
): Promise<boolean> => {
  const { since: at, by, why } = to;
  const move: Move = { at, endpoint, by, why, ...note, from: stageAndShare(from), to: stageAndShare(to) };
  const isStored = await store.move(endpoint, to, move, store.state().stages[endpoint]?.since);
  if (isStored) onStored(move);
  return isStored;
};
