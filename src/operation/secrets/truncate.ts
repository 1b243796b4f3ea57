/** A text of at most `max` characters, with `…` where it was cut; never cuts a surrogate pair in half. */
export const truncate = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
