import { getSegments, type LegacyRequest, type Unsent } from "../../endpoint/legacyRequest.ts";
import { entriesOf } from "../../rules/compose.ts";
import { isObject, type Json, type JsonObject } from "../../rules/rule.ts";

// What this feature knows of datasets and of the legacy interface. It serves no other kind of rows.

/** The endpoint whose lists lack private datasets. */
export const LIST_ENDPOINT = "listDatasets";
/** The endpoint that reads one dataset. */
export const READ_ENDPOINT = "getDataset";
/** The cache group of lists that private rows were added to. */
export const PRIVATE_GROUP = "private-dataset";
/** The largest number of ids in one list request: legacy's paths are bounded. */
export const MAX_IDS_ASKED = 500;
/** Legacy's error codes: the list is empty, there is no such dataset, the caller may not read it. */
export const [NO_RESULTS, UNKNOWN_DATASET, NO_ACCESS] = [372, 111, 112];
/** The code after which a write took effect all the same: only the search index failed. */
export const INDEX_FAILED = 105;

/** Legacy checks rights before the filter, which is illegal: administrators get 1011, other callers 106. No query runs. */
export const adminProbe: LegacyRequest = { method: "GET", path: "/evaluation/request/1/normal/1/none/0" };
/** The status of a key by the code of the probe's answer. */
export const probeStatuses: Readonly<Record<number, "administrator" | "other">> = {
  1011: "administrator",
  106: "other",
};

/** Requests a page of all datasets that legacy lists to a caller, in any state. */
export const listPage = (limit: number, offset: number): LegacyRequest | Unsent =>
  getSegments(["data", "list", "status", "all", "limit", limit, "offset", offset]);

/** Requests those of these datasets (at most `MAX_IDS_ASKED`) that legacy lists to a caller. */
export const listAmong = (ids: readonly number[]): LegacyRequest | Unsent =>
  getSegments(["data", "list", "status", "all", "data_id", ids.join(",")]);

const member = (value: Json | undefined, name: string): Json | undefined => (isObject(value) ? value[name] : undefined);

/** The ids in legacy's list; `undefined`: the document is no list. */
export const idsInList = (legacy: JsonObject): number[] | undefined => {
  const ids = entriesOf(member(legacy["data"], "dataset")).map((row) => member(row, "did"));
  const isList = ids.length > 0 && ids.every((id) => /^[1-9]\d{0,9}$/.test(typeof id === "string" ? id : ""));
  return isList ? ids.map(Number) : undefined;
};

/** The id of a row of our list. */
export const idOfRow = (ours: Json): number => Number(member(ours, "did"));

/** Whether our document of one dataset is a private one. */
export const isPrivateDocument = (ours: Json): boolean => member(ours, "visibility") === "private";

/** The id of the dataset that a path of legacy's interface reads. */
export const idOfPath = (path: string): number | undefined => numberIn(/\/data\/(\d{1,10})\/?$/.exec(path));

/** Whether a path of legacy's interface changes tags only, which does not change who may see a dataset. */
export const changesTags = (path: string): boolean => /\/data\/(?:un)?tag\/?$/.test(path);

/** The ids of the datasets that cache groups name. */
export const idsOfGroups = (groups: readonly string[]): number[] =>
  groups.flatMap((group) => numberIn(/^dataset\/(\d+)$/.exec(group)) ?? []);

/** The code of legacy's error, in the beginning of an answer. */
export const errorCodeIn = (text: string): number | undefined =>
  numberIn(
    /^\s*(?:\{\s*"error":\s*\{\s*"code":\s*"|(?:<\?xml[^>]*>\s*)?<oml:error\b[^>]*>\s*<oml:code>)(\d{1,6})(?:"|<\/oml:code>)/.exec(
      text,
    ),
  );

/** Whether the beginning of an answer shows a private dataset; `undefined`: it does not say. */
export const isPrivateIn = (text: string): boolean | undefined => {
  const [, inJson, inXml] = /"visibility":\s*"(private|public)"|<oml:visibility>(private|public)</.exec(text) ?? [];
  return inJson === undefined && inXml === undefined ? undefined : (inJson ?? inXml) === "private";
};

/** The id of the dataset that the beginning of an answer says was uploaded. */
export const uploadedIn = (text: string): number | undefined =>
  numberIn(/(?:"upload_data_set":\s*\{\s*"id":\s*"?|<oml:upload_data_set[^>]*>\s*<oml:id>)(\d{1,10})/.exec(text));

const numberIn = (match: RegExpExecArray | null): number | undefined =>
  match?.[1] === undefined ? undefined : Number(match[1]);
