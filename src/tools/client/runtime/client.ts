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
      const answer = await send(callOf(info, { ...input, limit, offset }), options).catch(withoutRows);
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

/** A page behind the last row is 404. */
const withoutRows = (error: unknown): undefined => {
  if (!(error instanceof CatalogError) || error.failure.status !== 404) throw error;
  return undefined;
};

const callOf = ({ method, path, inPairs, writes }: OperationInfo, input: Input): ClientCall => {
  const rest = { ...input };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return segment(value);
  });
  const given = Object.entries(rest).filter(([, value]) => value !== undefined && value !== null);
  const isRead = writes !== true;
  if (method === "POST") return { method, path: filled, body: JSON.stringify(Object.fromEntries(given)), isRead };
  const pairs = inPairs ? given.map(([name, value]) => `/${name}/${segment(value)}`) : [];
  return { method, path: filled + pairs.join(""), isRead };
};

const segment = (value: unknown): string =>
  (Array.isArray(value) ? value : [value ?? ""]).map((one) => encodeURIComponent(String(one))).join(",");
