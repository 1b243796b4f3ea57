import { renderJson, renderXml, type Tree } from "../../../tools/sampleLegacy/tree.ts";
import { datasetOf, datasetsFor, filler, flowOf, keys, maySee, measures, setupParameters, studyOf } from "./model.ts";

export type LegacyAnswer = { status: number; type: string; body: string };

type Shown = { id: number; name: string; visibility: "public" | "private" };

/** The datasets that a legacy server has, and who may see them; a user is a key's name. */
export type Datasets = {
  keys: Record<string, string>;
  datasetOf: (id: number) => Shown | undefined;
  maySee: (user: string | undefined, id: number) => boolean;
  listedFor: (user: string | undefined) => readonly Shown[];
};

/** A document of legacy's, in either format. An error's status is 412. */
const answer = (isXml: boolean, tree: Tree, status = 200): LegacyAnswer => ({
  status,
  type: `${isXml ? "text/xml" : "application/json"}; charset=utf-8`,
  body: isXml ? renderXml(tree) : renderJson(tree),
});
/** An error of legacy's, with the blanks that its template has: the gateway repeats one in an outage. */
export const legacyError = (isXml: boolean, code: number, message: string): LegacyAnswer => ({
  ...answer(isXml, { error: { code, message } }, 412),
  ...(isXml && {
    body: `<oml:error xmlns:oml="http://openml.org/openml">\n\t<oml:code>${code}</oml:code>\n\t<oml:message>${message}</oml:message>\n\t</oml:error>\n`,
  }),
});

/** The legacy interface's answer if nothing goes wrong. `target` is `/api/v1/json/data/61?api_key=...`. */
export const legacyOver =
  (datasets: Datasets) =>
  (method: string, target: string, body: string): LegacyAnswer => {
    const [path = "", query = ""] = target.split("?", 2);
    const [, form, rest = ""] = /^\/api\/v1(?:\/(json|xml))?(\/.*)$/.exec(path) ?? [];
    const isXml = form !== "json";
    const fields = new URLSearchParams(body);
    // An empty key does not count.
    const key = (new URLSearchParams(query).get("api_key") ?? fields.get("api_key")) || undefined;
    const user = Object.keys(datasets.keys).find((name) => name !== "stranger" && datasets.keys[name] === key);
    if (key !== undefined && user === undefined) return legacyError(true, 103, "Authentication failed");
    if (method === "HEAD") return legacyError(true, 100, "Function not valid");
    if (method !== "GET" && user === undefined) return legacyError(true, 102, "No authentication");
    const id = Number(/\/(\d+)$/.exec(rest)?.[1] ?? Number.NaN);
    if (/^\/data\/\d+$/.test(rest)) {
      const found = datasets.datasetOf(id);
      if (found === undefined) return legacyError(isXml, 111, "Unknown dataset");
      if (!datasets.maySee(user, id)) return legacyError(isXml, 112, "No access granted");
      return answer(isXml, { data_set_description: dataset(found, user) });
    }
    const ofEngine = /^\/data\/qualities\/(\d+)\/\d+$/.exec(rest)?.[1];
    if (ofEngine !== undefined) {
      const found = datasets.maySee(user, Number(ofEngine)) ? datasets.datasetOf(Number(ofEngine)) : undefined;
      if (found === undefined) return legacyError(isXml, 361, "Unknown dataset");
      return answer(isXml, { data_qualities: { did: found.id, quality: [{ name: found.name, value: "1.0" }] } });
    }
    if (rest.startsWith("/data/list")) return list(isXml, rest, datasets.listedFor(user));
    if (/^\/(data|setup)\/(un)?tag$/.test(rest)) return tagging(rest, fields);
    if (/^\/study\/\d+$/.test(rest)) return study(isXml, id);
    if (/^\/setup\/\d+$/.test(rest)) return setup(isXml, id);
    if (rest.startsWith("/flow/exists")) return flow(isXml, rest, fields);
    if (rest === "/evaluationmeasure/list")
      return answer(isXml, { evaluation_measures: { measures: { measure: measures } } });
    return legacyError(isXml, 100, "Function not valid");
  };

/** The answer of a legacy that has the fuzz's model. */
export const legacyAnswer = legacyOver({
  keys,
  datasetOf,
  maySee: (user, id) => {
    const found = datasetOf(id);
    return found !== undefined && maySee(user, found);
  },
  listedFor: datasetsFor,
});

const dataset = ({ id, name, visibility }: Shown, user: string | undefined): Tree => ({
  id,
  name,
  version: 1,
  description: filler(id % 3 === 0 ? 60 : 200 + (id % 1500)),
  format: "ARFF",
  // The caller's name reveals answers that were given to another caller.
  citation: visibility === "public" ? "for all" : `for ${user}`,
  visibility,
  status: "active",
});

const list = (isXml: boolean, rest: string, datasets: readonly Shown[]): LegacyAnswer => {
  const given = (name: string, unset: number): number => {
    const found = new RegExp(`/${name}/(\\d+)`).exec(rest)?.[1];
    return found === undefined ? unset : Number(found);
  };
  const offset = given("offset", 0);
  const rows = datasets.slice(offset, offset + given("limit", 10_000));
  return rows.length === 0 ? legacyError(isXml, 372, "No results") : datasetList(isXml, rows);
};

/** Legacy's list of these datasets, each with these qualities. */
export const datasetList = (
  isXml: boolean,
  rows: readonly Pick<Shown, "id" | "name">[],
  qualities: readonly string[] = ["NumberOfInstances"],
): LegacyAnswer => {
  const listed = rows.map(({ id, name }) => ({
    did: id,
    name,
    version: 1,
    status: "active",
    format: "ARFF",
    md5_checksum: "",
    file_id: id,
    quality: qualities.map((of) => (isXml ? { "@name": of, "#": `${id}.0` } : { name: of, value: `${id}.0` })),
  }));
  if (isXml) return answer(isXml, { data: { dataset: listed } });
  // The JSON of this list has a template of its own, where numbers are numbers.
  return { ...answer(isXml, {}), body: JSON.stringify({ data: { dataset: listed } }) };
};

const tagging = (rest: string, form: URLSearchParams): LegacyAnswer => {
  const [, kind = "", what = ""] = rest.split("/");
  const [id, tag] = [form.get(`${kind}_id`), form.get("tag")];
  if (id === null || tag === null) return legacyError(false, 471, "Please provide entity_id and tag");
  return answer(false, { [`${kind}_${what}`]: { id, tag: ["always", tag] } });
};

const study = (isXml: boolean, id: number): LegacyAnswer => {
  const kind = studyOf(id);
  if (kind === "absent") return legacyError(isXml, 601, "Study does not exist.");
  const tree: Tree = {
    id,
    main_entity_type: "task",
    name: `study ${id}`,
    description: "d",
    visibility: "public",
    status: "active",
    creation_date: "2020-01-01T00:00:00",
    creator: 1,
    tag: kind === "byTag" ? { name: "t" } : null,
    data: "",
    tasks: { task_id: id },
  };
  return answer(isXml, { study: tree });
};

const setup = (isXml: boolean, id: number): LegacyAnswer => {
  const count = setupParameters(id);
  if (count === undefined) return legacyError(isXml, 281, "Unknown setup");
  const parameter = Array.from({ length: count }, (_, i) => ({ id: i, flow_id: id, parameter_name: `p${i}` }));
  return answer(isXml, { setup_parameters: { setup_id: id, flow_id: id, parameter } });
};

const flow = (isXml: boolean, rest: string, form: URLSearchParams): LegacyAnswer => {
  const name = form.get("name") ?? rest.split("/")[3] ?? "";
  const id = flowOf(Number(/^flow\.(\d+)/.exec(name)?.[1] ?? 0));
  return answer(isXml, { flow_exists: { exists: id !== undefined, id: id ?? -1 } });
};
