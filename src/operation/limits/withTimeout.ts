/**
 * The result of a promise, or "late" after `ms` milliseconds.
 *
 * @throws As the promise does.
 */
export const withTimeout = async <T>(promise: Promise<T>, ms: number): Promise<T | "late"> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => (timer = setTimeout(resolve, ms, "late")));
  // A rejection after the timeout has no other listener.
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};
