/** A path as it can be sent: other characters than ASCII's escaped; `undefined` where it holds a blank or what is no text. */
export const sendable = (path: string): string | undefined => {
  if (/^[\u0021-\u007e]*$/.test(path)) return path;
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (!path.isWellFormed() || /[\u0000-\u0020\u007f]/.test(path)) return undefined;
  return path.replaceAll(/[^\u0021-\u007e]+/g, encodeURIComponent);
};
