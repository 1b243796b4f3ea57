/** What the mirror may take: questions at a time and a second, and bytes a second. What is over is shed, never queued. */
export type Budget = {
  /** True where one more may go; it is then to be ended with the bytes it took. */
  enter(): boolean;
  leave(bytes: number): void;
  /** How many were shed. */
  shed(): number;
};

export type BudgetSettings = { concurrency: number; rate: number; bytes: number };

export const openBudget = (
  { concurrency, rate, bytes }: BudgetSettings,
  now: () => number = () => performance.now(),
): Budget => {
  let inFlight = 0;
  let shed = 0;
  let tokens = rate;
  // Known only afterwards: whoever took too much is paid for by those that come next.
  let credit = bytes;
  let filledAt = now();
  const fill = () => {
    const seconds = (now() - filledAt) / 1000;
    filledAt = now();
    tokens = Math.min(rate, tokens + seconds * rate);
    credit = Math.min(bytes, credit + seconds * bytes);
  };
  return {
    enter() {
      fill();
      if (inFlight >= concurrency || tokens < 1 || credit <= 0) {
        shed++;
        return false;
      }
      tokens--;
      inFlight++;
      return true;
    },
    leave(taken) {
      inFlight--;
      credit -= taken;
    },
    shed: () => shed,
  };
};
