/** The number of letters to insert, delete, replace or swap with the next letter (Damerau-Levenshtein). */
export const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  let before = row;
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] as number) + Number(a[i] !== b[j]);
      const edits = Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1);
      const isSwapped = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      next.push(isSwapped ? Math.min(edits, (before[j - 1] as number) + 1) : edits);
    }
    [before, row] = [row, next];
  }
  return row.at(-1) as number;
};
