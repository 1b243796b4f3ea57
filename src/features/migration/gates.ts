import { type GateDecision, judgeGate } from "./gate.ts";
import type { Gate, MoveNote, Stage } from "./stage.ts";
import type { Evidence } from "./gate.ts";

/** Moves endpoints by their gates. */
type Gates = {
  /** Checks one endpoint's gate now, and moves the endpoint if the gate says so. */
  check(endpoint: string): void;
  /** Moves an endpoint; meanwhile its gate does not act. Resolves and rejects as `move` does. */
  move(endpoint: string, to: Stage, by: string, why: string, note?: MoveNote): Promise<boolean>;
  /** Why the gate does not promote now, or its last move; `undefined` before its first check since the last change. */
  says(endpoint: string): Pick<GateDecision, "reason" | "isFailing"> | undefined;
  /** The endpoint or its gate has changed: the last reason no longer applies. */
  changed(endpoint: string): void;
  close(): void;
};

type GatesSettings = {
  endpoints: readonly string[];
  stageOf: (endpoint: string) => Stage;
  gateOf: (endpoint: string) => Gate | undefined;
  evidenceOf: (endpoint: string) => Evidence;
  move: Gates["move"];
  /** Called if a gate's move could not be stored. */
  onError: (endpoint: string, error: Error) => void;
  /** Milliseconds between two checks of all gates. */
  interval: number;
};

/** Opens the gates, which are checked again and again until `close`. */
export const openGates = ({
  endpoints,
  stageOf,
  gateOf,
  evidenceOf,
  onError,
  interval,
  ...settings
}: GatesSettings): Gates => {
  const says = new Map<string, GateDecision>();
  const moving = new Set<string>();

  const move: Gates["move"] = async (endpoint, ...about) => {
    moving.add(endpoint);
    try {
      return await settings.move(endpoint, ...about);
    } finally {
      moving.delete(endpoint);
    }
  };

  const check = (endpoint: string): void => {
    const gate = gateOf(endpoint);
    if (gate === undefined || moving.has(endpoint)) return;
    const decision = judgeGate(gate, stageOf(endpoint), evidenceOf(endpoint));
    says.set(endpoint, decision);
    const { reason, to } = decision;
    if (to) move(endpoint, to, "gate", reason).catch((error: Error) => onError(endpoint, error));
  };

  const checking = setInterval(() => endpoints.forEach(check), interval).unref();

  return {
    check,
    move,
    says: (endpoint) => says.get(endpoint),
    changed: (endpoint) => void says.delete(endpoint),
    close: () => clearInterval(checking),
  };
};
