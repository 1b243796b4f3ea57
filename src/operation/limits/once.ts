/**
 * What makes something at its first call, and again after a failure. Calls at the same time share one
 * attempt, and its failure.
 */
export const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
};
