import type { Handler, HandlerResult } from "./call.ts";
import { sampleCatalogue } from "./catalogue.ts";
import type { FlowRow, ParameterRow } from "./catalogueRows.ts";
import { type LegacyElement, element, optionalElement } from "./renderXml.ts";
import { cleanInput, legacyCollationKey, htmlEntities } from "./textQuirks.ts";

const findRow = (wanted: number): FlowRow | undefined => sampleCatalogue.flows.find(({ id }) => id === wanted);

// Legacy encodes a flow's texts for HTML: `é` becomes a name that XML does not know, and the JSON form dies.
const encoded = (name: string, text: string): LegacyElement => ({ name, text: htmlEntities(text), unescaped: true });

const describe = (flow: FlowRow): LegacyElement =>
  element("flow", [
    element("id", flow.id),
    element("uploader", flow.uploader ?? 1),
    encoded("name", flow.name),
    ...optionalElement("class_name", flow.class_name),
    element("version", flow.version ?? 1),
    encoded("external_version", flow.external_version),
    encoded("description", flow.description),
    element("upload_date", "2020-09-09T09:09:09"),
    element("licence", "MIT"),
    element("language", "English"),
    element("dependencies", "sample_2.0"),
    ...(flow.parameters ?? []).map((it) =>
      element("parameter", [
        encoded("name", it.name),
        encoded("data_type", it.type),
        encoded("default_value", it.default),
        element("description", `Sets ${it.name}.`),
      ]),
    ),
    ...(flow.components ?? []).flatMap(([identifier, id]) => {
      const part = findRow(id);
      return part ? [element("component", [element("identifier", identifier), describe(part)])] : [];
    }),
    ...(flow.tags ?? []).map((tag) => element("tag", tag)),
  ]);

/** `flow/{id}`, with the flows it is made of. */
export const flowById: Handler = ({ segments: [segment] }) => {
  if (segment === "0") return { error: 180 };
  const flow = findRow(Number(segment));
  return flow ? { root: describe(flow), layout: { indent: "" } } : { error: 181 };
};

const flowExists = (name: string, version: string): HandlerResult => {
  const found = sampleCatalogue.flows.find(
    (flow) =>
      legacyCollationKey(flow.name) === legacyCollationKey(name) &&
      legacyCollationKey(flow.external_version) === legacyCollationKey(version),
  );
  const fields = [element("exists", `${found !== undefined}`), element("id", found?.id ?? -1)];
  return { root: element("flow_exists", fields), layout: { indent: "\t" } };
};

/** `flow/exists/{name}/{version}`: compares the segments undecoded. */
export const flowExistsByPath: Handler = ({ segments: [, name = "", version = ""] }) => flowExists(name, version);

/** `flow/exists` with `name` and `external_version` in a form. */
export const flowExistsByForm: Handler = ({ form }) => {
  const name = cleanInput(form.get("name") ?? "");
  const version = cleanInput(form.get("external_version") ?? "");
  return `${name}${version}`.includes('"') ? "crash" : flowExists(name, version);
};

const parameters = new Map<string, ParameterRow & { flow: FlowRow }>(
  sampleCatalogue.flows.flatMap((flow) => (flow.parameters ?? []).map((it) => [`${it.id}`, { ...it, flow }])),
);

/** `setup/{id}`: a flow and the values given to its parameters. */
export const setupById: Handler = ({ segments: [segment] }) => {
  if (segment === "0") return { error: 280 };
  const row = sampleCatalogue.setups.find(({ id }) => id === Number(segment));
  if (!row) return { error: 281 };

  const values = Object.entries(row.values ?? {}).flatMap(([id, value]) => {
    const it = parameters.get(id);
    if (!it) return [];
    return element("parameter", [
      element("id", it.id),
      element("flow_id", it.flow.id),
      element("flow_name", it.flow.name),
      element("full_name", `${it.flow.name}(${it.flow.version ?? 1})_${it.name}`),
      element("name", it.name),
      element("parameter_name", it.name),
      element("data_type", it.type),
      element("default_value", it.default),
      element("value", value),
    ]);
  });
  return {
    root: element("setup_parameters", [element("setup_id", row.id), element("flow_id", row.flow_id), ...values]),
  };
};
