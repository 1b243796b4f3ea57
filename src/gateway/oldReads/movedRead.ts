import {
  type Answer,
  type ErrorTable,
  isObject,
  type LegacyForm,
  parseJson,
  writeLegacyError,
} from "../../catalogue/index.ts";
import type { PreparedEndpoint } from "../answer/prepared.ts";
import type { CacheKey } from "../cache/cacheRequest.ts";
import type { Decision } from "../cache/served.ts";
import type { PathRead } from "./pathRead.ts";
import type { ReadSender } from "./whoAsks.ts";

type Input = Record<string, unknown>;

/** A read of an old client as a request of the new interface. */
export type MovedRead = {
  endpoint: PreparedEndpoint;
  form: LegacyForm;
  input: Input;
  /** The key of the backend's entry. */
  cacheKey: CacheKey;
  /** The name of the entry's form that answers the read. */
  formName: string;
  /** The rows of a page, if the read is a list without a limit. */
  page: number | undefined;
};

/** The side that answers a read of an old client. `moved`: the request to the backend; absent: legacy answers. */
export type Side = { decision: Decision; moved?: MovedRead };

/** True if the backend may answer. Legacy alone knows whose session it is, and what a browser's user has changed. */
export const mayMove = ({
  side,
  who,
  cacheKey,
}: Pick<ReadSender, "who"> & { side?: Side | undefined; cacheKey: CacheKey }): boolean =>
  side?.moved !== undefined && who !== "browser" && !(who === "session" && cacheKey.personal);

/** The decision for an answer that legacy made, or its cache. `session`: the backend may not answer this caller. */
export const legacysDecision = (read: Parameters<typeof mayMove>[0], { decision, moved }: Side): Decision =>
  moved === undefined ? decision : { ...decision, backend: "legacy", reason: mayMove(read) ? "fallback" : "session" };

/** The read of an old client as a request to the backend; `undefined`: legacy answers it otherwise. */
export const movedRead = ({ form: format, cacheKeys, judging }: PathRead, backend: string): MovedRead | undefined => {
  if (!("endpoint" in judging)) return undefined;
  const { endpoint, input: given } = judging;
  const { legacyForm: form, input: fields } = endpoint;
  const { limit, offset } = given;
  if (form === undefined || endpoint.cacheKey === undefined) return undefined;
  // Legacy refuses these, and our defaults would hide it.
  const hasNoFilter = Object.values(given).every((value) => value === undefined);
  if (endpoint.rejectEarly?.(given) !== undefined || (form.needsFilter && hasNoFilter)) return undefined;
  if (offset !== undefined && limit === undefined) return undefined;
  const isWhole = limit === undefined && Object.hasOwn(fields, "limit");
  if (isWhole && form.page === undefined) return undefined;
  const input = Object.fromEntries(
    Object.entries(fields).map(([name, { fallback }]) => [
      name,
      given[name] ?? (name === "limit" ? form.page : fallback?.value),
    ]),
  );
  return {
    endpoint,
    form,
    input,
    cacheKey: { ...endpoint.cacheKey(input, backend), endpoint: cacheKeys.http.endpoint },
    formName: isWhole ? `whole ${format}` : format,
    page: isWhole ? form.page : undefined,
  };
};

/**
 * Legacy's error for an error of the new interface, with legacy's code and message. `undefined`: it has no code, or
 * legacy has no such error.
 */
export const oldError = (
  errors: ErrorTable,
  { status, body }: Answer,
  { codes }: LegacyForm,
  format: PathRead["form"],
): Answer | undefined => {
  if (status < 402 || status >= 500 || status === 410) return undefined;
  const document = parseJson(body.toString());
  const detail = document !== undefined && isObject(document) ? document["detail"] : undefined;
  if (detail === undefined || !isObject(detail)) return undefined;
  const { code, message, additional_information: additional } = detail as Partial<Record<string, string>>;
  if (code === undefined || message === undefined) return undefined;
  const mapped = codes?.[code];
  const said = errors.get(Number(mapped ?? code))?.message ?? message;
  const error = { code: mapped ?? code, message: said, ...(typeof additional === "string" && { additional }) };
  return { status: 412, judged: status, ...writeLegacyError(format, error) };
};
