/** What a promise gives, or "late" after so many milliseconds; a rejection stays one. */
export const withTimeout = async <T>(promise: Promise<T>, ms: number): Promise<T | "late"> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => (timer = setTimeout(resolve, ms, "late")));
  // Nobody listens any more when it fails late.
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};
