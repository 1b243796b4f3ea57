/** A text as a single line without control characters, which could drive the terminal: an escape becomes `\u{1b}`. */
export const plainText = (text: string): string =>
  text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
