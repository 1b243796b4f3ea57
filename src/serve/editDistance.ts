/** The letters to insert, delete or replace (Levenshtein). */
export const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min(
          (row[j] as number) + 1,
          (next[j - 1] as number) + 1,
          (row[j - 1] as number) + Number(a[i] !== b[j - 1]),
        ),
      );
    row = next;
  }
  return row.at(-1) as number;
};
