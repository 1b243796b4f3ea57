/**
 * A request to legacy, below the path of its interface. `form` is sent urlencoded; with `files` (XML documents by the
 * name of their field) it is sent as multipart/form-data.
 */
export type LegacyRequest = {
  method: "GET" | "POST";
  path: string;
  form?: Record<string, string>;
  files?: Record<string, string>;
};

/** A sentence for the client that says why no request is sent. Legacy would read such a request as another request. */
export type Unsent = { unsent: string };

/** A path segment. Legacy compares most segments undecoded, so characters that its front accepts are not escaped. */
const segment = (value: string | number): string =>
  encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%3A", ":");

/** True if a server resolves or collapses the segment, which changes the path. */
const isNoSegment = (value: string | number): boolean => /^\.{0,2}$/.test(String(value));

const noSegment = (value: string | number): Unsent => ({
  unsent: `The legacy interface cannot be asked for "${value}": the path would become another.`,
});

/** Apache takes a request line of 8190 bytes; the rest of that line, with a key, stays below 200. */
const MAX_PATH = 7900;

const getPath = (path: string): LegacyRequest | Unsent =>
  path.length > MAX_PATH
    ? { unsent: "The legacy interface cannot be asked for so much at once." }
    : { method: "GET", path };

/** A GET of these segments. Each is escaped, so that a value can never become a path. */
export const getSegments = (segments: readonly (string | number)[]): LegacyRequest | Unsent => {
  const wrong = segments.find(isNoSegment);
  if (wrong !== undefined) return noSegment(wrong);
  return getPath(segments.map((value) => `/${segment(value)}`).join(""));
};

/** A GET of a path template, each value escaped: `` get`/data/${id}` ``. */
export const get = (strings: TemplateStringsArray, ...values: (string | number)[]): LegacyRequest | Unsent => {
  const wrong = values.find(isNoSegment);
  if (wrong !== undefined) return noSegment(wrong);
  return getPath(String.raw({ raw: strings }, ...values.map(segment)));
};

/** A POST of this form; numbers become texts. */
export const post = (path: string, form: Record<string, string | number>): LegacyRequest => ({
  method: "POST",
  path,
  form: Object.fromEntries(Object.entries(form).map(([name, value]) => [name, String(value)])),
});

/** A POST of these XML documents, as files. */
export const upload = (path: string, files: Record<string, string>): LegacyRequest => ({
  method: "POST",
  path,
  form: {},
  files,
});
