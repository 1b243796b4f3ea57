/** True if legacy treats a character as a blank, as PHP's `trim` does. JavaScript's also removes a no-break space. */
export const isBlank = (code: number): boolean =>
  code === 0x20 || (code >= 0x09 && code <= 0x0b) || code === 0x0d || code === 0;

/**
 * The text without such characters at either end; by default legacy's blanks. No regular expression does it: one that
 * matches at the end takes quadratic time.
 */
export const trimmed = (text: string, isTakenOff: (code: number) => boolean = isBlank): string => {
  let start = 0;
  let end = text.length;
  while (start < end && isTakenOff(text.charCodeAt(start))) start++;
  while (end > start && isTakenOff(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
};
