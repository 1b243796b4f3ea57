/** The media type without parameters: `application/json; charset=utf-8` -> `application/json`. */
export const mediaTypeOf = (contentType: string): string =>
  (contentType.split(";", 1)[0] as string).trim().toLowerCase();

/** True if a request's body counts as JSON: its `Content-Type` says so, or it has no `Content-Type`. */
export const isJsonBody = (contentType: string | undefined): boolean =>
  contentType === undefined ||
  contentType === "" ||
  /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType.trim());
