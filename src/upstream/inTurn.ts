import type { Semaphore, Turn } from "./semaphore.ts";

/** Runs in a turn of the gate's, which is waited for at most `patience` milliseconds. `noTurn`: there was none. */
export const inTurn = async <T>(gate: Semaphore, patience: number, run: () => Promise<T>): Promise<T | "noTurn"> => {
  let turn: Turn | undefined;
  const hasTurn = await new Promise<boolean>((resolve) => {
    const waiting: Turn = {
      start() {
        clearTimeout(timer);
        resolve(true);
      },
      expire() {
        clearTimeout(timer);
        resolve(false);
      },
    };
    const timer = setTimeout(() => gate.withdraw(waiting) && resolve(false), Math.max(0, patience));
    turn = waiting;
    if (!gate.enter(waiting)) waiting.expire();
  });
  if (!hasTurn || turn === undefined) return "noTurn";
  try {
    return await run();
  } finally {
    gate.leave(turn);
  }
};
