/** The media type alone: `application/json; charset=utf-8` -> `application/json`. */
export const mediaTypeOf = (contentType: string): string =>
  (contentType.split(";", 1)[0] as string).trim().toLowerCase();
