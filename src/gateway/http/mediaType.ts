/** The media type alone: `application/json; charset=utf-8` -> `application/json`. */
export const mediaTypeOf = (contentType: string): string =>
  (contentType.split(";", 1)[0] as string).trim().toLowerCase();

/** A request's body is taken for JSON if its `Content-Type` says so, or if it has none. */
export const isJsonBody = (contentType: string | undefined): boolean =>
  contentType === undefined ||
  contentType === "" ||
  /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType.trim());
