import type { Call, SampleHandler, HandlerResult } from "./call.ts";
import { allQualities, basicQualities, type CatalogueRows } from "./catalogue.ts";
import type { DatasetRow, FlowRow, User } from "./catalogueRows.ts";
import { textsOf } from "./tags.ts";
import { cleanInput, isNumeric, isSameText } from "./textQuirks.ts";
import { escapeXml, ScriptDied, type Tree, type XmlLayout } from "./tree.ts";

/** The kinds of rows that have a document with an id. */
type Kind = "datasets" | "setups" | "flows" | "tasks" | "runs" | "taskTypes" | "estimationProcedures";

/** A document found by the number in its path. `errors`: for an unknown id, and for the id 0 if its error differs. */
type Document<K extends Kind> = {
  root: string;
  errors: [unknown: number, zero?: number];
  /** The error of a row that exists, but is not shown. */
  refuse?: (row: CatalogueRows[K][number], call: Call) => number | undefined;
  /** Writes the document. Default: the row's own `document` with its tags. */
  tree?: (row: CatalogueRows[K][number], call: Call, segment: string) => Tree;
  layout?: XmlLayout;
};

const document =
  <K extends Kind>(kind: K, { root, errors, refuse, tree = written, layout }: Document<K>): SampleHandler =>
  (call) => {
    const segment = call.segments.find(isNumeric) ?? "";
    if (segment === "0" && errors[1] !== undefined) return { error: errors[1] };
    const rows: readonly CatalogueRows[K][number][] = call[kind];
    const row = rows.find(({ id }) => id === Number(segment));
    const error = row ? refuse?.(row, call) : errors[0];
    if (row === undefined || error !== undefined) return { error: error ?? errors[0] };
    return { tree: { [root]: tree(row, call, segment) }, layout };
  };

const written = ({ document: tree, tags }: { document?: Tree; tags?: DatasetRow["tags"] }): Tree => ({
  ...tree,
  ...(tree && "tag" in tree ? { tag: textsOf(tags) } : {}),
});

/** True if this caller has the rights of the dataset's owner. */
export const isOwn = (caller: User | undefined, { uploader }: DatasetRow): boolean =>
  caller !== undefined && (caller.id === uploader || caller.role === "administrator");

/** True if this caller may see the row. The list is stricter: it hides private rows from administrators, too. */
export const mayRead = (caller: User | undefined, row: DatasetRow): boolean =>
  row.visibility === "public" || isOwn(caller, row);

const datasetColumns =
  "id name version description description_version format creator contributor collection_date upload_date language licence url parquet_url file_id default_target_attribute row_id_attribute ignore_attribute version_label citation tag visibility original_data_url paper_url status processing_date error warning md5_checksum";

const datasetTree = (row: DatasetRow & Tree, segment: string): Tree => {
  const { id, name, format, file_id, description, description_version, md5_checksum } = row;
  const [folder, file] = [Math.floor(id / 10_000), id].map((it) => `${it}`.padStart(4, "0"));
  const columns: Tree = {
    // Also written without a value. Other columns are then left out.
    description: description ?? "",
    description_version: description_version ?? "",
    md5_checksum,
    ...Object.fromEntries(["creator", "contributor", "ignore_attribute"].map((list) => [list, row[list] ?? null])),
    tag: textsOf(row.tags),
    url: `https://legacy.example/data/v1/download/${file_id}/${escapeXml(name)}.${format.toLowerCase()}`,
    // Legacy builds the file's name from the path segment as it came, with leading zeros.
    parquet_url:
      format === "Sparse_ARFF" ? null : `https://files.example/datasets/${folder}/${file}/dataset_${segment}.pq`,
  };
  return Object.fromEntries(datasetColumns.split(" ").map((it) => [it, it in columns ? columns[it] : row[it] || null]));
};

/** All qualities of a dataset, also those without a value. */
const qualitiesOf = (row: DatasetRow): [name: string, value: string | null][] => [
  ...basicQualities(row),
  ...Object.entries(row.otherQualities ?? {}),
];

const flowTree = (flow: FlowRow, flows: FlowRow[]): Tree => ({
  ...written(flow),
  ...(flow.components && {
    component: flow.components.map((part) => ({
      identifier: part.identifier,
      flow: flows.filter(({ id }) => id === part.flow).map((it) => flowTree(it, flows)),
    })),
  }),
});

/** The documents with an id, by path. */
export const documents = {
  "data/#": document("datasets", {
    root: "data_set_description",
    errors: [111, 110],
    refuse(row, { caller, segments: [segment = ""] }) {
      if (!/^\d+$/.test(segment)) throw new ScriptDied();
      return !mayRead(caller, row) ? 112 : row.file_id === null ? 113 : undefined;
    },
    tree: (row, _, segment) => datasetTree(row as DatasetRow & Tree, segment),
  }),
  "data/features/#": document("datasets", {
    root: "data_features",
    errors: [271],
    refuse(row, { caller }) {
      if (!mayRead(caller, row)) return 275;
      return row.features ? undefined : row.processing_date === null ? 273 : row.error ? 274 : 272;
    },
    tree: ({ features = [] }) => ({
      feature: features.map(({ name, type, values, ontology, role, missing = 0 }, index) => ({
        index,
        name,
        data_type: type,
        ontology,
        nominal_value: values,
        is_target: role === "target",
        is_ignore: role === "ignore",
        is_row_identifier: role === "row_identifier",
        number_of_missing_values: missing,
      })),
    }),
  }),
  "data/qualities/#": document("datasets", {
    root: "data_qualities",
    errors: [361, 360],
    refuse(row, { caller, segments: [, , engine = "1"] }) {
      if (!mayRead(caller, row)) return 361;
      if (row.processing_date === null || Number(engine) !== 1) return 363;
      return qualitiesOf(row).length > 0 ? undefined : row.error ? 364 : 362;
    },
    tree: (row) => ({
      quality: qualitiesOf(row)
        .toSorted(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
        .map(([name, value]) => ({ name, value: value ?? "" })),
    }),
  }),
  "setup/#": document("setups", { root: "setup_parameters", errors: [281, 280] }),
  "flow/#": document("flows", {
    root: "flow",
    errors: [181, 180],
    tree: (row, { flows }) => flowTree(row, flows),
    layout: { indent: "" },
  }),
  "task/#": document("tasks", { root: "task", errors: [151] }),
  "run/#": document("runs", { root: "run", errors: [236, 235] }),
  "run/trace/#": document("runs", {
    root: "trace",
    errors: [571],
    refuse: ({ trace }) => (trace ? undefined : 572),
    tree: ({ id, trace }) => ({ run_id: id, trace_iteration: trace }),
  }),
  "tasktype/#": document("taskTypes", { root: "task_type", errors: [241, 240] }),
  "estimationprocedure/#": document("estimationProcedures", {
    root: "estimationprocedure",
    errors: [731, 730],
    tree: (row) => row,
  }),
} satisfies Record<string, SampleHandler>;

/** The lists without filters, which are whole documents. */
export const plainLists = {
  "data/qualities/list": () => ({ tree: { data_qualities_list: { quality: allQualities } } }),
  "estimationprocedure/list": ({ estimationProcedures }) => ({
    tree: { estimationprocedures: { estimationprocedure: estimationProcedures } },
  }),
  "evaluationmeasure/list": ({ evaluationMeasures }) => ({
    tree: { evaluation_measures: { measures: { measure: evaluationMeasures } } },
    layout: { indent: "\t" },
  }),
  "tasktype/list": ({ taskTypes }) => ({
    tree: { task_types: { task_type: taskTypes.map(({ listed }) => listed) } },
  }),
} satisfies Record<string, SampleHandler>;

/** The groups of a study's members, and the name of an id in each. */
const groups = { data: "data_id", tasks: "task_id", flows: "flow_id", setups: "setup_id", runs: "run_id" } as const;

/** `study/{id or alias}[/group]`: only a tag-based study uses the group, and omits empty groups. */
export const studyByKey: SampleHandler = ({ segments: [key = "", only], caller, studies }) => {
  if (only !== undefined && !Object.hasOwn(groups, only)) return { error: 600, about: `Got: ${only}` };
  const row = studies.find(({ id, alias }) =>
    isNumeric(key) ? id === Number(key) : alias?.toLowerCase() === key.toLowerCase(),
  );
  if (!row) return { error: 601 };
  const { description, visibility, status, creator, legacy } = row;
  if (visibility !== "public" && caller?.id !== creator) return { error: 602 };
  if (legacy?.length === 0) return { error: 603 };
  const study: Tree = {
    id: row.id,
    alias: row.alias || null,
    main_entity_type: row.main_entity_type,
    benchmark_suite: row.benchmark_suite,
    // Legacy escapes neither.
    "!name": row.name,
    "!description": description,
    visibility,
    status,
    creation_date: "2021-02-03T04:05:06",
    creator,
    tag: legacy,
  };
  for (const [group, name] of Object.entries(groups) as [keyof typeof groups, string][])
    if (row[group] && !(legacy && only && only !== group)) study[group] = { [name]: row[group] };
  return { tree: { study }, layout: { newline: "\r\n" } };
};

const flowExists = ({ flows }: Call, name: string, version: string): HandlerResult => {
  const found = flows.find((flow) => isSameText(flow.name, name) && isSameText(flow.external_version, version));
  return { tree: { flow_exists: { exists: found !== undefined, id: found?.id ?? -1 } }, layout: { indent: "\t" } };
};

/** `flow/exists/{name}/{version}`: compares the segments undecoded. */
export const flowExistsByPath: SampleHandler = (call) =>
  flowExists(call, call.segments[1] ?? "", call.segments[2] ?? "");

/** `flow/exists` with `name` and `external_version` in a form. */
export const flowExistsByForm: SampleHandler = (call) => {
  const [name = "", version = ""] = ["name", "external_version"].map((field) => cleanInput(call.form.get(field) ?? ""));
  if (`${name}${version}`.includes('"')) throw new ScriptDied();
  return flowExists(call, name, version);
};

/** `user/list/user_id/{ids}`. */
export const userList: SampleHandler = ({ users, segments: [, , ids = ""] }) => {
  const given = new Set(ids.split(","));
  const user = users.filter(({ id }) => given.has(String(id))).map(({ id }) => ({ id, username: `User ${id}` }));
  return { tree: { users: { user } } };
};

/** `evaluation/request/…`: refuses callers who are not administrators, then every filter. */
export const evaluationRequest: SampleHandler = ({ caller }) =>
  caller?.role === "administrator"
    ? { error: 1011, about: "Legal filter operators: ttid,task,tag,uploader,setup. Found illegal filter: none" }
    : { error: 106 };
