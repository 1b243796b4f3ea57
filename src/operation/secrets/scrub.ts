/** Replaces parts that a log must not show. */
const NOT_SHOWN = "(...)";

/** A segment or a name as short and plain as those of routes, ids and tags. */
const shownForm = /^[A-Za-z0-9._~-]{1,64}$/;
/** A run of this length shows which key it is: legacy's keys have 32 hexadecimal digits. */
const longRun = /[A-Za-z0-9]{16}/;

/** Words of routes with such a long run, which are known not to be keys. */
const words = new Set<string>();

/** Lets `scrubTarget` show the segments of these paths, however long they are. */
export const showSegments = (paths: Iterable<string>): void => {
  for (const path of paths) for (const word of path.split("/")) if (longRun.test(word)) words.add(word);
};

/**
 * A target for a log. It shows the segments of the path and the names of the query that are as plain as words and ids,
 * and no values. Every other part is `(...)`, as is a part that holds one of `keys`, of any length and in any case.
 * `/data/61?limit=5` -> `/data/61?limit`
 */
export const scrubTarget = (target: string, keys: readonly string[] = []): string => {
  const holdsKey = holderOf(keys);
  const end = target.indexOf("?");
  const shownIn = (text: string, delimiter: string) =>
    text
      .split(delimiter)
      .map((token) => shown(delimiter === "&" ? (token.split("=", 1)[0] as string) : token, holdsKey))
      .join(delimiter);
  const path = shownIn(end === -1 ? target : target.slice(0, end), "/");
  const all = end === -1 ? path : `${path}?${shownIn(target.slice(end + 1), "&")}`;
  // A key may hold a delimiter.
  return holdsKey(all) ? NOT_SHOWN : all;
};

/** A client's `User-Agent` for a log, scrubbed likewise: its words, without the text after a `=`. */
export const scrubAgent = (agent: string, keys: readonly string[] = []): string => {
  const holdsKey = holderOf(keys);
  const all = agent
    .split(/([ ;,()/=]+)/)
    .map((token, at, tokens) => {
      if (at % 2 === 1 || token === "...") return token;
      return at > 0 && tokens[at - 1]?.includes("=") && token !== "" ? NOT_SHOWN : shown(token, holdsKey);
    })
    .join("");
  return holdsKey(all) ? NOT_SHOWN : all;
};

/** A text for a log, without the runs of letters and digits that may be keys. */
export const scrubRuns = (text: string): string => text.replaceAll(/[A-Za-z0-9]{16,}/g, NOT_SHOWN);

const shown = (token: string, holdsKey: (text: string) => boolean): string => {
  if (token === "") return token;
  const isPlain = shownForm.test(token) && (!longRun.test(token) || words.has(token));
  return isPlain && !holdsKey(token) ? token : NOT_SHOWN;
};

const holderOf = (keys: readonly string[]): ((text: string) => boolean) => {
  const wanted = keys.filter((key) => key !== "").map((key) => key.toLowerCase());
  if (wanted.length === 0) return () => false;
  return (text) => {
    const lower = text.toLowerCase();
    return wanted.some((key) => lower.includes(key));
  };
};

/** Replaces a value that a message must not show. */
export const HIDDEN = "(not shown)";

/** A text for a message, without the possible secrets of a URL: the text before an `@`, and after a `?` or `#`. */
export const withoutUrlSecrets = (text: string): string =>
  text.replace(/^[^]*@/, `${HIDDEN}@`).replace(/[?#][^]*$/, `?${HIDDEN}`);
