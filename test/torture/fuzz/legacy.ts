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

const JSON_TYPE = "application/json; charset=utf-8";
const XML_TYPE = "text/xml; charset=utf-8";
const NAMESPACE = 'xmlns:oml="http://openml.org/openml"';

const ok = (body: unknown): LegacyAnswer => ({ status: 200, type: JSON_TYPE, body: JSON.stringify(body) });
const okXml = (body: string): LegacyAnswer => ({ status: 200, type: XML_TYPE, body });
const error = (isXml: boolean, code: number, message: string): LegacyAnswer =>
  isXml
    ? {
        status: 412,
        type: XML_TYPE,
        body: `<oml:error ${NAMESPACE}>\n\t<oml:code>${code}</oml:code>\n\t<oml:message>${message}</oml:message>\n\t</oml:error>\n`,
      }
    : { status: 412, type: JSON_TYPE, body: JSON.stringify({ error: { code: String(code), message } }) };

/** What the legacy interface answers, where nothing goes wrong. `target` is `/api/v1/json/data/61?api_key=...`. */
export const legacyOver =
  (datasets: Datasets) =>
  (method: string, target: string, body: string): LegacyAnswer => {
    const [path = "", query = ""] = target.split("?", 2);
    const isXml = path.startsWith("/api/v1/xml/");
    const rest = path.slice("/api/v1/json".length - (isXml ? 1 : 0));
    const form = new URLSearchParams(body);
    const key = new URLSearchParams(query).get("api_key") ?? form.get("api_key") ?? undefined;
    const user = Object.keys(datasets.keys).find((name) => name !== "stranger" && datasets.keys[name] === key);
    if (key !== undefined && user === undefined) return error(true, 103, "Authentication failed");
    if (method !== "GET" && user === undefined) return error(true, 102, "No authentication");
    const id = Number(/\/(\d+)$/.exec(rest)?.[1] ?? Number.NaN);
    if (/^\/data\/\d+$/.test(rest)) {
      const one = datasets.datasetOf(id);
      if (one === undefined) return error(isXml, 111, "Unknown dataset");
      return datasets.maySee(user, id) ? dataset(isXml, one, user) : error(isXml, 112, "No access granted");
    }
    if (rest.startsWith("/data/list")) return list(isXml, rest, datasets.listedFor(user));
    if (/^\/(data|setup)\/(un)?tag$/.test(rest)) return tagging(rest, form);
    if (/^\/study\/\d+$/.test(rest)) return study(isXml, id);
    if (/^\/setup\/\d+$/.test(rest)) return setup(isXml, id);
    if (rest.startsWith("/flow/exists")) return flow(isXml, rest, form);
    if (rest === "/evaluationmeasure/list")
      return isXml
        ? okXml(
            `<oml:evaluation_measures ${NAMESPACE}><oml:measures>${measures.map((one) => `<oml:measure>${one}</oml:measure>`).join("")}</oml:measures></oml:evaluation_measures>`,
          )
        : ok({ evaluation_measures: { measures: { measure: measures } } });
    return error(isXml, 100, "Function not valid");
  };

/** That of the fuzz's model. */
export const legacyAnswer = legacyOver({
  keys,
  datasetOf,
  maySee: (user, id) => {
    const one = datasetOf(id);
    return one !== undefined && maySee(user, one);
  },
  listedFor: datasetsFor,
});

const dataset = (isXml: boolean, { id, name, visibility }: Shown, user: string | undefined): LegacyAnswer => {
  const description = filler(id % 3 === 0 ? 60 : 200 + (id % 1500));
  // Who it was made for shows answers that were given to somebody else.
  const citation = visibility === "public" ? "for all" : `for ${user}`;
  if (isXml)
    return okXml(
      `<oml:data_set_description ${NAMESPACE}><oml:id>${id}</oml:id><oml:name>${name}</oml:name><oml:version>1</oml:version><oml:description>${description}</oml:description><oml:format>ARFF</oml:format><oml:citation>${citation}</oml:citation><oml:visibility>${visibility}</oml:visibility><oml:status>active</oml:status></oml:data_set_description>`,
    );
  return ok({
    data_set_description: {
      id: String(id),
      name,
      version: "1",
      description,
      format: "ARFF",
      citation,
      visibility,
      status: "active",
    },
  });
};

const list = (isXml: boolean, rest: string, datasets: readonly Shown[]): LegacyAnswer => {
  const given = (name: string, unset: number): number => {
    const found = new RegExp(`/${name}/(\\d+)`).exec(rest)?.[1];
    return found === undefined ? unset : Number(found);
  };
  const offset = given("offset", 0);
  const rows = datasets.slice(offset, offset + given("limit", 10_000));
  if (rows.length === 0) return error(isXml, 372, "No results");
  if (!isXml) {
    const described = rows.map(({ id, name }) => ({
      did: id,
      name,
      version: 1,
      status: "active",
      format: "ARFF",
      md5_checksum: "",
      file_id: id,
      quality: [{ name: "NumberOfInstances", value: `${id}.0` }],
    }));
    return ok({ data: { dataset: described } });
  }
  const described = rows.map(
    ({ id, name }) =>
      `<oml:dataset><oml:did>${id}</oml:did><oml:name>${name}</oml:name><oml:version>1</oml:version><oml:status>active</oml:status><oml:format>ARFF</oml:format><oml:md5_checksum></oml:md5_checksum><oml:uploader>1</oml:uploader><oml:file_id>${id}</oml:file_id><oml:quality name="NumberOfInstances">${id}.0</oml:quality></oml:dataset>`,
  );
  return okXml(`<oml:data ${NAMESPACE}>${described.join("")}</oml:data>`);
};

const tagging = (rest: string, form: URLSearchParams): LegacyAnswer => {
  const [, kind = "", what = ""] = rest.split("/");
  const [id, tag] = [form.get(`${kind}_id`), form.get("tag")];
  if (id === null || tag === null) return error(false, 471, "Please provide entity_id and tag");
  return ok({ [`${kind}_${what}`]: { id, tag: ["always", tag] } });
};

const study = (isXml: boolean, id: number): LegacyAnswer => {
  const kind = studyOf(id);
  if (kind === "absent") return error(isXml, 601, "Study does not exist.");
  if (isXml)
    return okXml(
      `<oml:study ${NAMESPACE}><oml:id>${id}</oml:id><oml:main_entity_type>task</oml:main_entity_type><oml:name>study ${id}</oml:name><oml:description>d</oml:description><oml:visibility>public</oml:visibility><oml:status>active</oml:status><oml:creation_date>2020-01-01T00:00:00</oml:creation_date><oml:creator>1</oml:creator>${kind === "byTag" ? "<oml:tag><oml:name>t</oml:name></oml:tag>" : ""}<oml:data></oml:data><oml:tasks><oml:task_id>${id}</oml:task_id></oml:tasks></oml:study>`,
    );
  return ok({
    study: {
      id: String(id),
      main_entity_type: "task",
      name: `study ${id}`,
      description: "d",
      visibility: "public",
      status: "active",
      creation_date: "2020-01-01T00:00:00",
      creator: "1",
      ...(kind === "byTag" ? { tag: { name: "t" } } : {}),
      data: [],
      tasks: { task_id: [String(id)] },
    },
  });
};

const setup = (isXml: boolean, id: number): LegacyAnswer => {
  const count = setupParameters(id);
  if (count === undefined) return error(isXml, 281, "Unknown setup");
  const parameters = Array.from({ length: count }, (_, index) => ({
    id: String(index),
    flow_id: String(id),
    parameter_name: `p${index}`,
  }));
  if (isXml)
    return okXml(
      `<oml:setup_parameters ${NAMESPACE}><oml:setup_id>${id}</oml:setup_id><oml:flow_id>${id}</oml:flow_id>${parameters.map((one) => `<oml:parameter><oml:id>${one.id}</oml:id><oml:flow_id>${id}</oml:flow_id><oml:parameter_name>${one.parameter_name}</oml:parameter_name></oml:parameter>`).join("")}</oml:setup_parameters>`,
    );
  return ok({
    setup_parameters: {
      setup_id: String(id),
      flow_id: String(id),
      ...(count > 0 ? { parameter: count === 1 ? parameters[0] : parameters } : {}),
    },
  });
};

const flow = (isXml: boolean, rest: string, form: URLSearchParams): LegacyAnswer => {
  const name = form.get("name") ?? rest.split("/")[3] ?? "";
  const id = flowOf(Number(/^flow\.(\d+)/.exec(name)?.[1] ?? 0));
  const [exists, shown] = [id === undefined ? "false" : "true", String(id ?? -1)];
  return isXml
    ? okXml(
        `<oml:flow_exists ${NAMESPACE}><oml:exists>${exists}</oml:exists><oml:id>${shown}</oml:id></oml:flow_exists>`,
      )
    : ok({ flow_exists: { exists, id: shown } });
};
