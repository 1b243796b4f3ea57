/** One line of a table; its cells are Markdown already. */
export const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** The first column is text, numbers stand right below one another. */
export const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string => {
  const isNumber = heads.map((_, i) => rows.every((cells) => /^[\d,]*$/.test(cells[i] ?? "")));
  return [row(heads), row(isNumber.map((right) => (right ? "--:" : ":--"))), ...rows.map(row)].join("\n");
};

/**
 * Any text as code, within a line or a cell. Backticks where they hold; what could end them, the cell or the line is written as an
 * element with every sign as a reference, which every reader of Markdown takes the same way.
 */
export const code = (text: string): string =>
  /^(?! )[^`|\p{Cc}\u2028\u2029]+(?<! )$/u.test(text)
    ? `\`${text}\``
    : `<code>${text.toWellFormed().replaceAll(/[^\w ]/gu, (sign) => `&#${sign.codePointAt(0)};`)}</code>`;

/** A block of code, its fence longer than any run of backticks inside. */
export const fenced = (language: string, text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
};
