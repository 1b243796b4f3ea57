/** The Cache-Control of a request (RFC 9111, section 5.2.1); times in milliseconds. */
export type Directives = {
  /** Legacy has to be asked. */
  noCache?: true;
  /** The answer must not be stored. */
  noStore?: true;
  onlyIfCached?: true;
  maxAge?: number;
  minFresh?: number;
  maxStale?: number;
};

/** The directives of a request without Cache-Control. */
export const noDirectives: Directives = {};

/** Reads `Cache-Control`, or `Pragma` where there is none of it. Unknown and malformed directives are ignored. */
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
