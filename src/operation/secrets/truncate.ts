/** A text of at most so many characters, with `…` where it was cut; no surrogate pair is torn. */
export const truncate = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
