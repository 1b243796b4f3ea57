import type { SampleError } from "./answers.ts";
import type { Call, SampleHandler } from "./call.ts";
import { basicQualities, type ListTable, listTables } from "./catalogue.ts";
import type { DatasetRow, CatalogueRow, RunRow, StudyRow } from "./catalogueRows.ts";
import { isSameText } from "./textQuirks.ts";
import { textIn, type Tree } from "./tree.ts";

/** The highest limit of setups, runs and evaluations (as in API 1.2.6); other lists allow any limit. */
const MAX_LIMIT = 1000;

/** The given filters of a list; a repeated filter has its last value. */
type ListFilters = Partial<Record<string, string>>;

/** The legal values of a filter, and the test by which a value chooses a row. Without `fits` it chooses every row. */
type FilterKind = {
  legal: RegExp;
  fits?: (cell: unknown, value: string, row: CatalogueRow, call: Call, column: string) => boolean;
};

const digits = /^\d+(,\d+)*$/;
// A mistake of legacy: the range from comma to underscore allows : ; < = > @ [ \ ] ^ too.
const text = /^[a-zA-Z0-9\s.,-_()]+$/;

const filterKinds: Record<string, FilterKind> = {
  digits: { legal: digits },
  text: { legal: text },
  ids: { legal: digits, fits: (cell, list) => list.split(",").some((id) => Number(id) === cell) },
  // MariaDB reads the number at the beginning of `64,2`.
  firstOf: { legal: digits, fits: (cell, list) => Number.parseInt(list, 10) === cell },
  exact: { legal: text, fits: (cell, wanted) => cell === wanted },
  same: { legal: text, fits: (cell, wanted) => isSameText(wanted, String(cell)) },
  status: { legal: text, fits: (cell, wanted) => isSameText(wanted, "all") || isSameText(wanted, String(cell)) },
  tagged: {
    legal: text,
    fits: (cell, tag) => ((cell ?? []) as string[][]).some(([known = ""]) => isSameText(known, tag)),
  },
  /** `a` or `a..b`; any other text matches no row. */
  within: {
    legal: text,
    fits(_, range, row, _call, quality) {
      const value = Number(basicQualities(row as DatasetRow).find(([known]) => known === quality)?.[1] ?? "none");
      const [, low, high = low] = /^(\d+(?:\.0*)?)(?:\.\.(\d+))?$/.exec(range) ?? [];
      return low !== undefined && value >= Number(low) && value <= Number(high);
    },
  },
  study: {
    legal: digits,
    fits: (_, study, run, { studies }) =>
      studies.some(({ id, runs }) => id === Number(study) && runs?.includes(run.id)),
  },
};

/** The properties of a list beside its table. */
type List<R extends CatalogueRow> = {
  /** The error of filters that are legal one by one. */
  refuse?: (filters: ListFilters) => number | undefined;
  /** The rows that the caller may see. */
  rows: (call: Call, filters: ListFilters) => R[];
  ordered?: (rows: R[], filters: ListFilters) => R[];
  /** Columns that the row itself does not have, and other values of the template. */
  more?: (row: R, call: Call) => Tree;
};

/** The handler of `{path}/{filter}/{value}/…`. `tablePath`: the path of the list whose table it uses. */
const list = <R extends CatalogueRow>(
  path: string,
  { refuse, rows, ordered, more }: List<R>,
  tablePath = path,
): SampleHandler => {
  const table = listTables[tablePath] as ListTable;
  const { root, row: element, errors, columns, before = "", between = ",", template } = table;
  const legal = Object.entries(table.filters).map(([name, filter]) => {
    const [kind = "", column = ""] = filter.split(" ");
    return { name, column, ...(filterKinds[kind] as FilterKind) };
  });
  return (call) => {
    const read = readFilters(call.segments.slice(path.split("/").length - 1), legal, errors);
    if ("error" in read) return read;
    const filters = read.filters;
    const error = refuse?.(filters);
    if (error !== undefined) return { error };
    const wanted: ListFilters = { ...("status" in table.filters && { status: "active" }), ...filters };
    const fitting = rows(call, filters).filter((row) =>
      legal.every(({ name, column, fits }) => {
        const value = wanted[name];
        return value === undefined || (fits?.(row[column], value, row, call, column) ?? true);
      }),
    );
    const page = pageOf(ordered?.(fitting, filters) ?? fitting, filters);
    if (page.length === 0) return { error: errors.none };
    const whole = page.map((row): Tree => ({ ...(row as Tree), ...more?.(row, call) }));
    const texts = whole.map((row) => template?.replaceAll(/\$(\w+)/g, (_, name) => textIn(row[name])));
    // Legacy escapes no column whose name begins with `!`.
    const cells = columns.split(" ").map((name) => [name, name.replace("!", "")] as const);
    return {
      tree: {
        [root]: { [element]: whole.map((row) => Object.fromEntries(cells.map(([key, name]) => [key, row[name]]))) },
      },
      json: template && `{"${root}":{"${element}":[\n${before}${texts.join(between)}  ]}\n}\n`,
    };
  };
};

const decode = (value: string): string => {
  try {
    return decodeURIComponent(value);
  } catch {
    return "\ufffd";
  }
};

/** Reads `name/value/name/value`; a last name without a value is ignored. */
const readFilters = (
  segments: string[],
  legal: ({ name: string } & FilterKind)[],
  errors: ListTable["errors"],
): { filters: ListFilters } | SampleError => {
  const filters: ListFilters = {};
  for (let i = 0; i + 1 < segments.length; i += 2) filters[segments[i] ?? ""] = decode(segments[i + 1] ?? "");
  const names = legal.map(({ name }) => name);
  const unknown = segments.filter((name, i) => i % 2 === 0 && i + 1 < segments.length && !names.includes(name));
  if (unknown.length > 0) {
    const about = `Legal filter operators: ${names.join()}. Found illegal filter(s): ${unknown.join(", ")}`;
    return { error: errors.illegal, about };
  }
  const isUnsafe = (name: string) => !legal.find((filter) => filter.name === name)?.legal.test(filters[name] ?? "");
  const unsafe = Object.keys(filters).filter(isUnsafe);
  if (unsafe.length > 0) return { error: errors.unsafe, about: `Filters with illegal values: ${unsafe.join()}` };
  // PHP takes "0" for empty: offset/0 needs no limit, and limit/0 counts as a missing limit.
  if (Number(filters["offset"] ?? 0) !== 0 && Number(filters["limit"] ?? 0) === 0) return { error: errors.offset };
  return { filters };
};

/** The LIMIT of SQL, in which `limit/1,2` means an offset of 1. */
const pageOf = <R>(rows: R[], { limit, offset = "0" }: ListFilters): R[] => {
  if (limit === undefined) return rows;
  const [start = 0, count = 0] = limit.includes(",") ? limit.split(",").map(Number) : [Number(offset), Number(limit)];
  return rows.slice(start, start + count);
};

const isVisible = ({ visibility, uploader }: DatasetRow, { caller }: Call): boolean =>
  visibility === "public" || uploader === caller?.id;

const qualitiesOf = (row: DatasetRow): [string, string][] =>
  basicQualities(row).flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, value]]));

const named = (pairs: [string, string][]): Tree[] => pairs.map(([name, value]) => ({ "@name": name, "#": value }));

const datasets = list<DatasetRow & CatalogueRow>("data/list", {
  rows: (call) => call.datasets.filter((row) => isVisible(row, call)),
  ordered: (rows) => rows.toSorted((a, b) => a.id - b.id),
  more: (row) => ({
    did: row.id,
    quality: named(qualitiesOf(row)),
    file: row.file_id === null ? "" : `      "file_id": ${row.file_id},\n`,
    qualities: qualitiesOf(row)
      .map(([name, value]) => `    {"name":"${name}",\n     "value":"${value}"\n    }\n    `)
      .join(),
  }),
});

const group = (name: string, pairs: [string, string][]): string =>
  pairs.length === 0
    ? ""
    : `        ,"${name}": [\n${pairs.map(([key, value]) => `    {"name":"${key}", "value":"${value}"}\n`).join()}    ]\n`;

const tasks = list<DatasetRow & { listed: Record<string, string> }>("task/list", {
  rows: (call) =>
    call.tasks.flatMap((task) => {
      const dataset = call.datasets.find(({ id }) => id === task.data_id);
      return dataset && isVisible(dataset, call)
        ? [{ ...task, ...dataset, task_id: task.id, task_tags: task.tags }]
        : [];
    }),
  more: (row) => ({
    did: row.id,
    input: named(Object.entries(row.listed)),
    inputs: group("input", Object.entries(row.listed)),
    quality: named(qualitiesOf(row)),
    qualities: group("quality", qualitiesOf(row)),
  }),
});

/** The parameters of a setup as lists have them. */
const parametersIn = ({ parameter }: Tree = {}): Tree[] =>
  ((parameter ?? []) as Tree[]).map((it) => Object.fromEntries(Object.entries(it).filter(([name]) => name !== "name")));

const setups = list<Call["setups"][number]>("setup/list", {
  refuse: (filters) =>
    Object.keys(filters).length === 0 ? 670 : Number(filters["limit"]) > MAX_LIMIT ? 676 : undefined,
  rows: (call) => call.setups,
  more: ({ id, document, tags = [] }) => ({
    setup_id: id,
    // Each parameter occurs once for each tag: legacy joins the tags.
    parameter: parametersIn(document).flatMap((it) => Array.from({ length: Math.max(1, tags.length) }, () => it)),
  }),
});

const studies = list<StudyRow>("study/list", {
  rows: ({ studies: all, caller }) =>
    all.filter(({ visibility, creator }) => visibility === "public" || creator === caller?.id),
  more: ({ alias }) => ({ alias: alias || null, creation_date: "2021-02-03 04:05:06" }),
});

const flows = list<Call["flows"][number]>("flow/list", {
  rows: (call) => call.flows,
  more: ({ name, version }) => ({ full_name: `${name}(${String(version)})` }),
});

/** The columns of a run, or of its results, that its row lacks. */
const runColumns = ({ id, error_message = "", run_details = "" }: RunRow): Tree => ({
  run_id: id,
  upload_time: "2021-01-01 10:00:00",
  evaluation_engine_id: 1,
  error_message,
  run_details,
});

const runs = list<RunRow>("run/list", {
  refuse(filters) {
    if (Object.keys(filters).every((name) => name === "offset" || name === "show_errors")) return 510;
    return Number(filters["limit"]) > MAX_LIMIT ? 516 : undefined;
  },
  rows: (call, filters) => call.runs.filter(({ error }) => error === undefined || filters["show_errors"] === "true"),
  more: runColumns,
});

const evaluations: List<RunRow> = {
  refuse({ per_fold: perFold, sort_order: order, ...others }) {
    if (perFold !== undefined && perFold !== "true" && perFold !== "false") return 547;
    if (Number(others["limit"]) > MAX_LIMIT) return 546;
    if (order !== undefined && order !== "asc" && order !== "desc") return 549;
    return Object.keys(others).every((name) => name === "offset") ? 540 : undefined;
  },
  rows: (call, { per_fold }) =>
    call.runs.flatMap((run) =>
      (per_fold === "true" ? run.folds : run.evaluations).map((result): RunRow => ({ ...run, ...result })),
    ),
  ordered(rows, { sort_order: order }) {
    const sign = order === "desc" ? -1 : 1;
    if (order === undefined) return rows;
    return rows.toSorted((a, b) => sign * (Number(a["value"] ?? 0) - Number(b["value"] ?? 0)));
  },
  // The JSON has no list within a list.
  more({ value, array_data: array, ...row }) {
    const flat = array?.replaceAll("?", '"?"').replaceAll(/(?!^)[[\]](?!$)/g, "");
    const result = [value && `"value":${value}`, flat && `"array_data":${flat}`].filter(Boolean);
    return { ...runColumns(row), setups: "", result: result.map((it) => `,\n   ${it}`).join("") };
  },
};

const evaluationsWithSetups: List<RunRow> = {
  ...evaluations,
  more(row, call) {
    const parameter = parametersIn(call.setups.find(({ id }) => id === row.setup_id)?.document);
    const texts = parameter.map((it) =>
      Object.entries(it)
        .map(([name, content]) => `"${name}": ${name.endsWith("id") ? textIn(content) : `"${textIn(content)}"`}`)
        .join(),
    );
    const setup = `"parameters": [${texts.map((it) => `{${it}}`).join()}],\n   `;
    return { ...evaluations.more?.(row, call), parameters: { parameter }, setups: setup };
  },
};

/** The lists with filters, by path. */
export const lists = {
  "data/list/*": datasets,
  "task/list/*": tasks,
  "setup/list/*": setups,
  "study/list/*": studies,
  "flow/list/*": flows,
  "run/list/*": runs,
  "evaluation/list/*": list("evaluation/list", evaluations),
  "evaluation/setup/list/*": list("evaluation/setup/list", evaluationsWithSetups, "evaluation/list"),
} satisfies Record<string, SampleHandler>;
