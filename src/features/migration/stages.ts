import type { LedgerEntry } from "../../compare/ledger.ts";
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
  /** Told of what could not be written down; it holds in this gateway until it ends. */
  onUnkept: (endpoint: string, error: Error) => undefined;
  now?: () => Date;
};

const usual: Stage = { stage: "legacy", share: 100 };

export const openStages = ({
  store,
  endpoints,
  configured: first,
  onMove,
  onUnkept,
  now = () => new Date(),
}: StagesSettings): Stages => {
  let configured = first;
  let stages = new Map<string, StageInForce>();

  const wordOf = (endpoint: string): Stage => configured[endpoint] ?? usual;

  /** The configuration's words that are not written down yet. */
  const said = new Map<string, StageInForce>();

  const worded = (endpoint: string, why: string): StageInForce => {
    const word = wordOf(endpoint);
    return { ...word, since: now().toISOString(), by: "configuration", why, configured: JSON.stringify(word) };
  };

  /** What was set last, by whomever: another gateway may be configured otherwise, and is followed all the same. */
  const inForce = (endpoint: string): StageInForce => {
    const set = store.state().stages[endpoint];
    const word = said.get(endpoint);
    if (set !== undefined && (word === undefined || word.since < set.since)) return set;
    return word ?? stages.get(endpoint) ?? worded(endpoint, configured[endpoint] ? "as configured" : "the usual");
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

  const told = ({ stage, share }: Pick<Stage, "stage" | "share">) => ({ stage, share });

  /** The configuration has changed: its words hold at once, and are written down, so that a restart and the other gateways agree. */
  const say = async (names: readonly string[]): Promise<void> => {
    const before = stages;
    for (const name of names) said.set(name, worded(name, "the configuration changed"));
    refresh();
    for (const endpoint of names) {
      const to = said.get(endpoint) as StageInForce;
      const from = before.get(endpoint) ?? store.state().stages[endpoint] ?? to;
      const move = { at: to.since, endpoint, by: to.by, why: to.why, from: told(from), to: told(to) };
      const written = await store
        .move(endpoint, to, move, store.state().stages[endpoint]?.since)
        .catch((error: Error) => onUnkept(endpoint, error));
      // Where somebody else was faster, they have the later word.
      if (written !== undefined) said.delete(endpoint);
    }
    refresh();
  };

  refresh();
  store.onChange(refresh);
  // Whoever was stopped, configured anew and started again has changed the configuration as well.
  const changedMeanwhile = endpoints.filter((name) => {
    const set = store.state().stages[name];
    return set?.configured !== undefined && set.configured !== JSON.stringify(wordOf(name));
  });
  if (changedMeanwhile.length > 0) void say(changedMeanwhile);

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
    const moved = await store.move(
      endpoint,
      next,
      { at, endpoint, by, why, from: told(from), to: told(to) },
      store.state().stages[endpoint]?.since,
    );
    if (moved) said.delete(endpoint);
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
      await say(changed);
    },
    audit: () => store.state().audit,
    expected: () => store.state().expected,
    async expect(entry) {
      return store.expect(entry);
    },
  };
};
