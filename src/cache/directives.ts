/** What a client says of the answer it wants (RFC 9111, 5.2.1); times in milliseconds. */
export type Directives = {
  /** Nothing that was not just validated. */
  noCache?: true;
  /** Nothing of this may be kept. */
  noStore?: true;
  onlyIfCached?: true;
  maxAge?: number;
  minFresh?: number;
  maxStale?: number;
};

export const noDirectives: Directives = {};

/** Reads `Cache-Control`, or `Pragma` where there is none of it. What is unknown or badly written is passed over. */
export const readDirectives = (cacheControl: string | undefined, pragma?: string): Directives => {
  if (cacheControl === undefined || cacheControl === "")
    return pragma !== undefined && /\bno-cache\b/i.test(pragma) ? { noCache: true } : noDirectives;
  const directives: Directives = {};
  for (const part of cacheControl.split(",")) {
    const [name = "", value] = part.split("=", 2).map((side) => side.trim());
    const seconds = /^"?(\d{1,10})"?$/.exec(value ?? "")?.[1];
    const time = seconds === undefined ? undefined : Number(seconds) * 1000;
    switch (name.toLowerCase()) {
      case "no-cache":
        directives.noCache = true;
        break;
      case "no-store":
        directives.noStore = true;
        break;
      case "only-if-cached":
        directives.onlyIfCached = true;
        break;
      case "max-age":
        if (time !== undefined) directives.maxAge = time;
        break;
      case "min-fresh":
        if (time !== undefined) directives.minFresh = time;
        break;
      case "max-stale":
        // Without a number it means any age.
        if (value === undefined || time !== undefined) directives.maxStale = time ?? Infinity;
        break;
      default:
    }
  }
  return directives;
};
