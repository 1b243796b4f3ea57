/** A piece of a text, and whether the other text lacks it. */
export type Part = { text: string; changed: boolean };

/** Tokens of either middle: beyond that the whole of it is said to have changed. */
const MOST = 400;

/** Two texts in pieces; what only one of them has is marked, word by word. */
export const changedParts = (left: string, right: string): { left: Part[]; right: Part[] } => {
  const [a, b] = [tokensOf(left), tokensOf(right)];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const middle = (tokens: readonly string[]) => tokens.slice(start, tokens.length - end);
  const [keptLeft, keptRight] = common(middle(a), middle(b));
  const parts = (tokens: readonly string[], kept: ReadonlySet<number>): Part[] =>
    joined(tokens.map((text, i) => ({ text, changed: i >= start && i < tokens.length - end && !kept.has(i - start) })));
  return { left: parts(a, keptLeft), right: parts(b, keptRight) };
};

const tokensOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+|\s+|[^\p{L}\p{N}\s]/gu) ?? [];

/** The places of a longest common subsequence, in either. */
const common = (a: readonly string[], b: readonly string[]): [Set<number>, Set<number>] => {
  const [inA, inB] = [new Set<number>(), new Set<number>()];
  if (a.length > MOST || b.length > MOST) return [inA, inB];
  const wide = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * wide);
  const at = (i: number, j: number): number => longest[i * wide + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * wide + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  for (let i = 0, j = 0; i < a.length && j < b.length;)
    if (a[i] === b[j]) {
      inA.add(i++);
      inB.add(j++);
    } else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  return [inA, inB];
};

const joined = (parts: readonly Part[]): Part[] => {
  const long: Part[] = [];
  for (const part of parts) {
    const last = long.at(-1);
    if (last?.changed === part.changed) last.text += part.text;
    else long.push({ ...part });
  }
  return long;
};
