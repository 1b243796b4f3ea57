import type { Destination, Move, Stage, StageInForce } from "./stage.ts";
import type { StateStore } from "./store/stateStore.ts";

/** The stages in force: what was set at run time, unless the configuration has changed since. */
type Stages = {
  of(endpoint: string): StageInForce;
  /** Moves one endpoint; false if another move came first. Rejects if the store does not confirm the write. */
  move(endpoint: string, to: Destination, by: string, why: string): Promise<boolean>;
  /** Applies a new configuration. Endpoints that it does not name are `legacy`. */
  configure(configured: Readonly<Record<string, Stage>>): Promise<void>;
};

type StagesSettings = {
  store: StateStore;
  endpoints: readonly string[];
  configured: Readonly<Record<string, Stage>>;
  /** Called for every endpoint that has a new stage or share. */
  onMove: (endpoint: string, from: StageInForce, to: StageInForce) => void;
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
  onUnwritten,
  now = () => new Date(),
}: StagesSettings): Stages => {
  let configured = first;
  let stages = new Map<string, StageInForce>();

  const configuredStage = (endpoint: string): Stage => configured[endpoint] ?? defaultStage;

  /** Configured stages that the store does not have yet. */
  const unwritten = new Map<string, StageInForce>();

  const fromConfiguration = (endpoint: string, why: string): StageInForce => {
    const stage = configuredStage(endpoint);
    return { ...stage, since: now().toISOString(), by: "configuration", why, configured: JSON.stringify(stage) };
  };

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
    for (const [name, stage] of stages) {
      const from = before.get(name);
      if (from && (from.stage !== stage.stage || from.share !== stage.share || from.since !== stage.since))
        onMove(name, from, stage);
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
      const written = await storeMove(store, endpoint, from, to).catch((error: Error) => onUnwritten(endpoint, error));
      // `false`: another move came first, and stays in force.
      if (written !== undefined) unwritten.delete(endpoint);
    }
    refresh();
  };

  refresh();
  store.onChange(refresh);
  // The configuration may have changed while the gateway was stopped.
  const changedMeanwhile = endpoints.filter((name) => {
    const set = store.state().stages[name];
    return set?.configured !== undefined && set.configured !== JSON.stringify(configuredStage(name));
  });
  if (changedMeanwhile.length > 0) void applyConfiguration(changedMeanwhile);

  const of = (endpoint: string): StageInForce =>
    stages.get(endpoint) ?? { ...defaultStage, since: "", by: "", why: "" };

  const move = async (endpoint: string, to: Destination, by: string, why: string): Promise<boolean> => {
    const from = of(endpoint);
    const gate = to.gate === null ? undefined : (to.gate ?? from.gate);
    const moved = await storeMove(store, endpoint, from, {
      ...stageAndShare(to),
      ...(gate ? { gate } : {}),
      since: now().toISOString(),
      by,
      why,
      configured: JSON.stringify(configuredStage(endpoint)),
    });
    if (moved) unwritten.delete(endpoint);
    refresh();
    return moved;
  };

  return {
    of,
    move,
    async configure(next) {
      const before = configured;
      configured = next;
      const changed = endpoints.filter(
        (name) => JSON.stringify(before[name] ?? defaultStage) !== JSON.stringify(configuredStage(name)),
      );
      await applyConfiguration(changed);
    },
  };
};

const stageAndShare = ({ stage, share }: Pick<Stage, "stage" | "share">) => ({ stage, share });

/** Stores a stage and its line of the audit log, unless another gateway has moved the endpoint meanwhile. */
const storeMove = (store: StateStore, endpoint: string, from: StageInForce, to: StageInForce): Promise<boolean> => {
  const { since: at, by, why } = to;
  const move: Move = { at, endpoint, by, why, from: stageAndShare(from), to: stageAndShare(to) };
  return store.move(endpoint, to, move, store.state().stages[endpoint]?.since);
};
