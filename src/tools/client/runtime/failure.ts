/** One wrong input of a 422: `loc` is its place, `msg` says what is allowed. */
export type InputFailure = { loc: (string | number)[]; msg: string; type: string };

/** What every failure has. `kind` and `status` tell failures apart. */
export type AnyFailure = {
  kind: string;
  /** The answer's status; 0: there was no answer. 422 also where the client refused an input itself. */
  status: number;
  message: string;
  /** The code of the legacy interface, such as "111". */
  code?: string;
  additionalInformation?: string;
  /** The `X-Request-Id` of the answer, for the operators. */
  requestId?: string;
  /** Seconds to wait, as the answer says. */
  retryAfter?: number;
  errors?: InputFailure[];
};

/** What a method of the client rejects with. An aborted call rejects with the reason of its signal instead. */
export class CatalogError extends Error {
  readonly failure: AnyFailure;
  constructor(failure: AnyFailure, options?: ErrorOptions) {
    super(failure.message, options);
    this.name = "CatalogError";
    this.failure = failure;
  }
}

type Body = {
  detail?: unknown;
  code?: unknown;
  additional_information?: unknown;
  errors?: unknown;
};

/** Reads an error of either dialect: `{"detail": ...}` and RFC 9457. `kinds`: the kind of each status. */
export const readFailure = (
  { status, headers }: Pick<Response, "status" | "headers">,
  text: string,
  kinds: Readonly<Record<number, string>>,
): AnyFailure => {
  const { detail, ...top } = bodyOf(text);
  const inner = (typeof detail === "object" && !Array.isArray(detail) ? (detail ?? {}) : {}) as Record<string, unknown>;
  const code = inner["code"] ?? top.code;
  const more = inner["additional_information"] ?? top.additional_information;
  const errors = Array.isArray(detail) ? detail : top.errors;
  const wait = retryAfterOf(headers);
  const requestId = headers.get("x-request-id");
  return {
    kind: kinds[status] ?? "unexpected",
    status,
    message: messageOf(typeof detail === "string" ? detail : inner["message"], errors, status),
    ...(typeof code === "string" ? { code } : {}),
    ...(typeof more === "string" ? { additionalInformation: more } : {}),
    ...(requestId === null ? {} : { requestId }),
    ...(wait === undefined ? {} : { retryAfter: wait }),
    ...(status === 422 || Array.isArray(errors) ? { errors: (errors ?? []) as InputFailure[] } : {}),
  };
};

const bodyOf = (text: string): Body => {
  try {
    return (JSON.parse(text) as Body | null) ?? {};
  } catch {
    return {};
  }
};

const messageOf = (given: unknown, errors: unknown, status: number): string => {
  const [first] = (Array.isArray(errors) ? errors : []) as Partial<InputFailure>[];
  if (first) return `${(first.loc ?? []).join(".")}: ${first.msg ?? "is not valid"}`;
  return typeof given === "string" ? given : `The server answered ${status}.`;
};

/** The seconds of `Retry-After`; a date counts from now. `undefined`: there is none. */
export const retryAfterOf = (headers: Headers): number | undefined => {
  const given = headers.get("retry-after");
  if (given === null) return undefined;
  const seconds = /^\d+$/.test(given) ? Number(given) : (Date.parse(given) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
};
