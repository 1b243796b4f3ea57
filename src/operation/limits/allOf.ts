/** Resolves when all of these have resolved; `undefined` if there is nothing to wait for. */
export const allOf = (waits: readonly (Promise<unknown> | undefined | void)[]): Promise<void> | undefined => {
  const promises = waits.filter((wait) => wait instanceof Promise);
  return promises.length === 0 ? undefined : Promise.all(promises).then(() => undefined);
};
