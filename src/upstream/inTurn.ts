import type { Gate, Turn } from "./gate.ts";

/** Runs in a turn of the gate's, which is waited for at most `patience` milliseconds. `noTurn`: there was none. */
export const inTurn = async <T>(gate: Gate, patience: number, run: () => Promise<T>): Promise<T | "noTurn"> => {
  const hasTurn = await new Promise<boolean>((resolve) => {
    const turn: Turn = {
      start() {
        clearTimeout(timer);
        resolve(true);
      },
    };
    const timer = setTimeout(() => gate.withdraw(turn) && resolve(false), Math.max(0, patience));
    if (gate.enter(turn)) return;
    clearTimeout(timer);
    resolve(false);
  });
  if (!hasTurn) return "noTurn";
  try {
    return await run();
  } finally {
    gate.leave();
  }
};
