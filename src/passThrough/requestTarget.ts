/** A request target in origin form; `authority` only where the client named one (absolute form), which then replaces Host. */
export type RequestTarget = { path: string; authority: string | undefined };

/** `/a?b` stays; `http://host/a?b` -> `/a?b` and `host`. Never decoded, never collapsed. */
export const requestTarget = (url: string): RequestTarget => {
  if (url.startsWith("/")) return { path: url, authority: undefined };
  const match = /^https?:\/\/(?:[^/?#]*@)?([^/?#]*)(.*)$/is.exec(url);
  if (match === null) return { path: url, authority: undefined };
  const [, authority = "", rest = ""] = match;
  return { path: rest.startsWith("/") ? rest : `/${rest}`, authority };
};
