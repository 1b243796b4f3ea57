import { type ArrayChange, diffArrays } from "diff";

/** A piece of a text, and whether the other text lacks it. */
export type DiffPiece = { text: string; changed: boolean };

/** With more edits than this, everything between the first and the last change is marked. */
const MAX_EDITS = 400;

/** Two texts in pieces, where the words that only one of them has are marked. */
export const diffWords = (left: string, right: string): { left: DiffPiece[]; right: DiffPiece[] } => {
  const [a, b] = [tokensOf(left), tokensOf(right)];
  const changes = diffArrays(a, b, { maxEditLength: MAX_EDITS }) ?? replacedMiddle(a, b);
  return {
    left: changes.filter(({ added }) => !added).map(pieceOf),
    right: changes.filter(({ removed }) => !removed).map(pieceOf),
  };
};

type TokenChange = Pick<ArrayChange<string>, "value"> & Partial<ArrayChange<string>>;

const pieceOf = ({ value, added = false, removed = false }: TokenChange): DiffPiece => ({
  text: value.join(""),
  changed: added || removed,
});

const tokensOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+|\s+|[^\p{L}\p{N}\s]/gu) ?? [];

const replacedMiddle = (a: readonly string[], b: readonly string[]): TokenChange[] => {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return [
    { value: a.slice(0, start) },
    { value: a.slice(start, a.length - end), removed: true },
    { value: b.slice(start, b.length - end), added: true },
    { value: a.slice(a.length - end) },
  ];
};
