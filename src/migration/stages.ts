import type { LedgerEntry } from "../compare/ledger.ts";
import type { Destination, Move, Stage, StageInForce } from "./stage.ts";
import type { StateStore } from "./store/stateStore.ts";

/** The stages in force: what was set at run time, unless the configuration has changed since. */
export type Stages = {
  of(endpoint: string): StageInForce;
  /** Moves one endpoint; false where somebody else has moved it meanwhile. Rejects where it cannot be kept. */
  move(endpoint: string, to: Destination, by: string, why: string): Promise<boolean>;
  /** The configuration's word on every endpoint; those it has not mentioned are `legacy`. */
  configure(configured: Readonly<Record<string, Stage>>): Promise<void>;
  audit(): Move[];
  expected(): LedgerEntry[];
  expect(entry: LedgerEntry): Promise<boolean>;
};

type StagesSettings = {
  store: StateStore;
  endpoints: readonly string[];
  configured: Readonly<Record<string, Stage>>;
  /** Told of every endpoint whose stage or share is another now. */
  onMove: (endpoint: string, from: StageInForce, to: StageInForce) => void;
  now?: () => Date;
};

const usual: Stage = { stage: "legacy", share: 100 };

export const openStages = ({
  store,
  endpoints,
  configured: first,
  onMove,
  now = () => new Date(),
}: StagesSettings): Stages => {
  let configured = first;
  let stages = new Map<string, StageInForce>();

  const wordOf = (endpoint: string): Stage => configured[endpoint] ?? usual;

  const inForce = (endpoint: string): StageInForce => {
    const word = wordOf(endpoint);
    const text = JSON.stringify(word);
    const set = store.state().stages[endpoint];
    if (set?.configured === text) return set;
    const known = stages.get(endpoint);
    // Said again is not moved again.
    if (known?.by === "configuration" && known.configured === text) return known;
    return {
      ...word,
      since: now().toISOString(),
      by: "configuration",
      why: configured[endpoint] ? "as configured" : "the usual",
      configured: text,
    };
  };

  /** Built whole, then exchanged at once. */
  const refresh = () => {
    const before = stages;
    stages = new Map(endpoints.map((name) => [name, inForce(name)]));
    for (const [name, stage] of stages) {
      const from = before.get(name);
      if (from && (from.stage !== stage.stage || from.share !== stage.share || from.since !== stage.since))
        onMove(name, from, stage);
    }
  };
  refresh();
  store.onChange(refresh);

  const of = (endpoint: string): StageInForce => stages.get(endpoint) ?? { ...usual, since: "", by: "", why: "" };

  const move = async (endpoint: string, to: Destination, by: string, why: string): Promise<boolean> => {
    const from = of(endpoint);
    const at = now().toISOString();
    const gate = to.gate === null ? undefined : (to.gate ?? from.gate);
    const next: StageInForce = {
      stage: to.stage,
      share: to.share,
      ...(gate ? { gate } : {}),
      since: at,
      by,
      why,
      configured: JSON.stringify(wordOf(endpoint)),
    };
    const told = ({ stage, share }: Pick<Stage, "stage" | "share">) => ({ stage, share });
    const moved = await store.move(
      endpoint,
      next,
      { at, endpoint, by, why, from: told(from), to: told(to) },
      store.state().stages[endpoint]?.since,
    );
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
        (name) => JSON.stringify(before[name] ?? usual) !== JSON.stringify(wordOf(name)),
      );
      // Written down, so that a restart and the other gateways agree.
      for (const name of changed)
        await move(name, { gate: null, ...wordOf(name) }, "configuration", "the configuration changed");
      refresh();
    },
    audit: () => store.state().audit,
    expected: () => store.state().expected,
    async expect(entry) {
      return store.expect(entry);
    },
  };
};
