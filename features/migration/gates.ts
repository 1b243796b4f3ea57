import type { GateDecision } from "./gate.ts";
import type { MoveNote, Stage } from "./stage.ts";

type MoveStage = (endpoint: string, to: Stage, by: string, why: string, note?: MoveNote) => Promise<boolean>;

type GatesOptions = {
  endpoints: readonly string[];
  /** Milliseconds between two checks of all gates. */
  interval: number;
  /** The current decision of an endpoint's gate; `undefined` without a gate. */
  decisionOf: (endpoint: string) => GateDecision | undefined;
  /** Moves an endpoint; false if another move came first. */
  move: MoveStage;
  /** Called if a gate's move could not be stored. */
  onUnwritten: (endpoint: string, error: Error) => void;
};

/** Opens the gates, which move endpoints automatically until they are closed. */
export const openGates = ({ endpoints, interval, decisionOf, move, onUnwritten }: GatesOptions) => {
  /** Endpoints whose move is being stored. */
  const moving = new Set<string>();

  const moveAlone: MoveStage = async (endpoint, ...about) => {
    moving.add(endpoint);
    try {
      return await move(endpoint, ...about);
    } finally {
      moving.delete(endpoint);
    }
  };

  /** Moves an endpoint if its gate says so, and no other move is under way. */
  const check = (endpoint: string): void => {
    const decision = moving.has(endpoint) ? undefined : decisionOf(endpoint);
    if (decision?.to === undefined) return;
    moveAlone(endpoint, decision.to, "gate", decision.reason).catch((error: Error) => onUnwritten(endpoint, error));
  };

  const checking = setInterval(() => endpoints.forEach(check), interval).unref();
  return {
    check,
    /**
     * Moves an endpoint for another part. Its gate does not act meanwhile.
     *
     * @returns False if another move came first.
     * @throws If the move could not be stored.
     */
    move: moveAlone,
    close: () => clearInterval(checking),
  };
};
