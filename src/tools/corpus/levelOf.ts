/** How many each may give at most, so that all together give no more than `limit`; more than any has where that is no bound. */
export const levelOf = (sizes: readonly number[], limit: number): number => {
  const ascending = sizes.toSorted((a, b) => a - b);
  let left = limit;
  for (const [i, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - i));
    if (size > share) return share;
    left -= size;
  }
  return Infinity;
};
