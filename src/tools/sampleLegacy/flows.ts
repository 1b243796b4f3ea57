import type { Call, Handler, HandlerResult } from "./call.ts";
import { sampleCatalogue } from "./catalogue.ts";
import type { FlowRow } from "./catalogueRows.ts";
import { isSameText } from "./datasetList.ts";
import { type FilterRules, firstNumber, pageOf, readFilters } from "./filters.ts";
import { type LegacyElement, element, optionalElement } from "./renderXml.ts";
import { cleanInput, legacyCollationKey, htmlEntities } from "./textQuirks.ts";

const findRow = (wanted: number): FlowRow | undefined => sampleCatalogue.flows.find(({ id }) => id === wanted);

// Legacy encodes a flow's texts for HTML: `é` becomes a name that XML does not know, and the JSON form dies.
const encoded = (name: string, text: string): LegacyElement => ({ name, text: htmlEntities(text), unescaped: true });

const describe = (flow: FlowRow, tags: Call["tags"]): LegacyElement =>
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
      return part ? [element("component", [element("identifier", identifier), describe(part, tags)])] : [];
    }),
    ...(tags.flow.get(flow.id) ?? []).map(([tag]) => element("tag", tag)),
  ]);

/** `flow/{id}`, with the flows it is made of. */
export const flowById: Handler = ({ segments: [segment], tags }) => {
  if (segment === "0") return { error: 180 };
  const flow = findRow(Number(segment));
  return flow ? { root: describe(flow, tags), layout: { indent: "" } } : { error: 181 };
};

const rules: FilterRules = {
  legal: ["uploader", "tag", "limit", "offset"],
  digits: new Set(["uploader", "limit", "offset"]),
  errors: { illegal: 501, unsafe: 502, offset: 503 },
};

/** The name of a flow with its version. */
export const fullName = ({ name, version = 1 }: FlowRow): string => `${name}(${version})`;

// Unescaped in both forms, as in legacy.
const listed = (flow: FlowRow): string => `    {"id":${flow.id},
   "full_name":"${fullName(flow)}",
   "name":"${flow.name}",
   "version":${flow.version ?? 1},
   "external_version":"${flow.external_version}",
   "uploader":${flow.uploader ?? 1}\t   }
  `;

/** `flow/list/{filter}/{value}/…`, by id. */
export const flowList: Handler = ({ segments, tags }) => {
  const asked = readFilters(segments.slice(1), rules);
  if ("error" in asked) return asked;
  const { uploader, tag } = asked.filters;
  const matching = sampleCatalogue.flows.filter(
    (flow) =>
      (uploader === undefined || firstNumber(uploader) === (flow.uploader ?? 1)) &&
      (tag === undefined || (tags.flow.get(flow.id) ?? []).some(([known]) => isSameText(known, tag))),
  );
  const flows = pageOf(matching, asked.filters);
  if (flows.length === 0) return { error: 500 };
  const rows = flows.map((flow) =>
    element("flow", [
      element("id", flow.id),
      { name: "full_name", text: fullName(flow), unescaped: true },
      { name: "name", text: flow.name, unescaped: true },
      element("version", flow.version ?? 1),
      { name: "external_version", text: flow.external_version, unescaped: true },
      element("uploader", flow.uploader ?? 1),
    ]),
  );
  return { root: element("flows", rows), json: `{"flows":{"flow":[\n${flows.map(listed).join(",")}  ]}\n}\n` };
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
