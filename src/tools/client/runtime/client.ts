import { CatalogError } from "./failure.ts";
import { type ClientCall, type CallOptions, type ClientSettings, openSender } from "./send.ts";

/** How an operation is called. `{name}` in `path` stands for an input. */
export type OperationInfo = {
  method: "GET" | "POST";
  path: string;
  /** The other inputs follow the path, as pairs of name and value. */
  inPairs?: true;
  writes?: true;
  /** It is a list in pages; the rows of one, where the caller does not say. */
  page?: number;
  /** The code of its 404 for a page without a row. */
  noRows?: string;
};

/** The types of an operation; `row` is `never` where it is not a list in pages. */
export type OperationTypes = { input: object; answer: unknown; row: unknown };

/** An input that names no field, or only such as may lack, may lack itself. */
type MayLack<T> = string extends keyof T ? true : Partial<T> extends T ? true : false;

type Args<Op extends OperationTypes> =
  MayLack<Op["input"]> extends true
    ? [input?: Op["input"], options?: CallOptions]
    : [input: Op["input"], options?: CallOptions];

/** One method: the whole answer, and for a list in pages each of its rows. */
export type Method<Op extends OperationTypes> = ((...args: Args<Op>) => Promise<Op["answer"]>) &
  ([Op["row"]] extends [never]
    ? object
    : {
        /** Asks for page after page, `limit` rows each, and gives one row after the other. No row at all is no error. */
        each(...args: Args<Op>): AsyncGenerator<Op["row"], void, void>;
      });

/** A client: a method for each operation. */
export type ClientOf<Operations extends { [Name in keyof Operations]: OperationTypes }> = {
  readonly [Name in keyof Operations]: Method<Operations[Name]>;
};

/** The rows of a page where nothing says otherwise. */
const PAGE = 100;

type Input = Readonly<Record<string, unknown>>;

/** Makes a client of these operations. `kinds`: the kind of failure that each status is. */
export const openClientOf = <Operations extends { [Name in keyof Operations]: OperationTypes }>(
  operations: Readonly<Record<keyof Operations & string, OperationInfo>>,
  kinds: Readonly<Record<number, string>>,
  settings: ClientSettings,
): ClientOf<Operations> => {
  const send = openSender(settings, kinds);

  async function* each(info: OperationInfo, input: Input, options?: CallOptions): AsyncGenerator<unknown, void, void> {
    const limit = (input["limit"] as number | undefined) ?? info.page ?? PAGE;
    let offset = (input["offset"] as number | undefined) ?? 0;
    for (;;) {
      const answer = await send(callOf(info, { ...input, limit, offset }), options).catch(withoutRows(info));
      const rows = (answer?.document ?? []) as unknown[];
      yield* rows;
      // Rows may be missing in a page that says so.
      const isIncomplete = answer?.headers.get("gateway-decision")?.includes("incomplete") === true;
      if (rows.length === 0 || (rows.length < limit && !isIncomplete)) return;
      offset += limit;
    }
  }

  const methodOf = (info: OperationInfo) => {
    const whole = async (input: Input = {}, options?: CallOptions): Promise<unknown> =>
      (await send(callOf(info, input), options)).document;
    if (info.page === undefined) return whole;
    return Object.assign(whole, { each: (input: Input = {}, options?: CallOptions) => each(info, input, options) });
  };
  const methods = Object.entries<OperationInfo>(operations).map(([name, info]) => [name, methodOf(info)] as const);
  return Object.fromEntries(methods) as unknown as ClientOf<Operations>;
};

/** A page behind the last row is a 404 with the list's own code. Any other 404 is an error, such as that of a wrong base URL. */
const withoutRows =
  ({ noRows }: OperationInfo) =>
  (error: unknown): undefined => {
    const { status, code } = error instanceof CatalogError ? error.failure : {};
    if (status !== 404 || code === undefined || code !== noRows) throw error;
    return undefined;
  };

const callOf = ({ method, path, inPairs, writes }: OperationInfo, input: Input): ClientCall => {
  const rest = { ...input };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return segment(name, value);
  });
  const given = Object.entries(rest).filter(([, value]) => value !== undefined && value !== null);
  const isRead = writes !== true;
  if (method === "POST") return { method, path: filled, body: JSON.stringify(Object.fromEntries(given)), isRead };
  const pairs = inPairs ? given.map(([name, value]) => `/${name}/${segment(name, value)}`) : [];
  return { method, path: filled + pairs.join(""), isRead };
};

/** Throws for `.` and `..`: no escape keeps URL parsers from resolving them, and the request would be another one. */
const segment = (name: string, value: unknown): string => {
  const written = (Array.isArray(value) ? value : [value ?? ""])
    .map((one) => encodeURIComponent(String(one)))
    .join(",");
  if (written !== "." && written !== "..") return written;
  const msg = `"${written}" cannot be part of a path`;
  const errors = [{ loc: ["path", name], msg, type: "value_error.str.regex" }];
  throw new CatalogError({ kind: "invalid-input", status: 422, message: `path.${name}: ${msg}`, errors });
};
