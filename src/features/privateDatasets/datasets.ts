import type { LegacyRequest } from "../../endpoint/legacyRequest.ts";

// What this feature knows of datasets and of the legacy interface. It serves no other kind of rows.

/** The endpoint whose lists lack private datasets. */
export const LIST_ENDPOINT = "listDatasets";
/** The cache group of whole lists, which pages are cut from. */
export const PRIVATE_GROUP = "private-dataset";
/** More rows than any list has. */
const MAX_ROWS = 1_000_000;
/** The input of a whole list: its filters, and all of its rows. */
export const wholeOf = (input: Record<string, unknown>) => ({ ...input, offset: 0, limit: MAX_ROWS });
/** The input of the list of all datasets, in any state. */
export const allDatasets = wholeOf({ status: "all" });
/** Whether an input asks for all datasets. */
export const hasNoFilter = (input: Record<string, unknown>): boolean =>
  input["status"] === "all" &&
  Object.entries(input).every(([name, given]) => given === undefined || ["status", "limit", "offset"].includes(name));

/** Legacy checks rights before the filter, which is illegal: administrators get 1011, other callers 106. No query runs. */
export const adminProbe: LegacyRequest = { method: "GET", path: "/evaluation/request/1/normal/1/none/0" };
/** The status of a key by the code of the probe's answer. */
export const probeStatuses: Readonly<Record<number, "administrator" | "other">> = {
  1011: "administrator",
  106: "other",
};

/** The rows of a list that was written as lines, by id. */
export const rowsById = (lines: Buffer): Map<number, Buffer> => {
  const rows = new Map<number, Buffer>();
  for (let start = 0; start < lines.length;) {
    const found = lines.indexOf(10, start);
    const end = found === -1 ? lines.length : found;
    const [id = Number.NaN] = idsInText(lines.toString("latin1", start, Math.min(end, start + 24)));
    rows.set(id, lines.subarray(start, end));
    start = end + 1;
  }
  return rows;
};

/** The ids in the beginning, or in all, of a list of ours. No text can hold one: its quotes are escaped. */
export const idsInText = (list: string): number[] => Array.from(list.matchAll(/"did":(\d+)/g), ([, id]) => Number(id));

/** The ids of the datasets that cache groups name. */
export const idsOfGroups = (groups: readonly string[]): number[] =>
  groups.flatMap((group) => numberIn(/^dataset\/(\d+)$/.exec(group)) ?? []);

/** Whether a path of legacy's interface changes tags only, which does not change who may see a dataset. */
export const changesTags = (path: string): boolean => /\/data\/(?:un)?tag\/?$/.test(path);

/** Whether legacy's answer to a write is an error after which nothing has changed. After 105 only the search index failed. */
export const isRefusal = (text: string): boolean => {
  const code =
    /^\s*(?:\{\s*"error":\s*\{\s*"code":\s*"|(?:<\?xml[^>]*>\s*)?<oml:error\b[^>]*>\s*<oml:code>)(\d{1,6})(?:"|<\/oml:code>)/.exec(
      text,
    )?.[1];
  return code !== undefined && code !== "105";
};

/** The id of the dataset that the beginning of an answer says was uploaded. */
export const uploadedIn = (text: string): number | undefined =>
  numberIn(/(?:"upload_data_set":\s*\{\s*"id":\s*"?|<oml:upload_data_set[^>]*>\s*<oml:id>)(\d{1,10})/.exec(text));

const numberIn = (match: RegExpExecArray | null): number | undefined =>
  match?.[1] === undefined ? undefined : Number(match[1]);
