import type { Handler } from "./call.ts";
import { sampleCatalogue } from "./catalogue.ts";
import type { FlowRow, ParameterRow, SetupRow } from "./catalogueRows.ts";
import { isSameText } from "./datasetList.ts";
import { type FilterRules, isAmong, pageOf, readFilters } from "./filters.ts";
import { fullName } from "./flows.ts";
import { element, type LegacyElement } from "./renderXml.ts";

const parameters = new Map<string, ParameterRow & { flow: FlowRow }>(
  sampleCatalogue.flows.flatMap((flow) => (flow.parameters ?? []).map((it) => [`${it.id}`, { ...it, flow }])),
);

/** The parameters that a setup gives a value, and these values. */
export const parametersOf = ({ values = {} }: SetupRow): (ParameterRow & { flow: FlowRow; value: string })[] =>
  Object.entries(values).flatMap(([id, value]) => {
    const it = parameters.get(id);
    return it ? [{ ...it, value }] : [];
  });

/** The parameters of a setup; `named`: with the name that only the document of one setup has. */
export const parameterElements = (row: SetupRow, named = false): LegacyElement[] =>
  parametersOf(row).map((it) =>
    element("parameter", [
      element("id", it.id),
      element("flow_id", it.flow.id),
      element("flow_name", it.flow.name),
      element("full_name", `${fullName(it.flow)}_${it.name}`),
      ...(named ? [element("name", it.name)] : []),
      element("parameter_name", it.name),
      element("data_type", it.type),
      element("default_value", it.default),
      element("value", it.value),
    ]),
  );

/** `setup/{id}`: a flow and the values given to its parameters. */
export const setupById: Handler = ({ segments: [segment] }) => {
  if (segment === "0") return { error: 280 };
  const row = sampleCatalogue.setups.find(({ id }) => id === Number(segment));
  if (!row) return { error: 281 };
  return {
    root: element("setup_parameters", [
      element("setup_id", row.id),
      element("flow_id", row.flow_id),
      ...parameterElements(row, true),
    ]),
  };
};

const rules: FilterRules = {
  legal: ["flow", "setup", "limit", "offset", "tag"],
  digits: new Set(["flow", "setup", "limit", "offset"]),
  errors: { illegal: 671, unsafe: 672, offset: 675 },
};

/** `setup/list/{filter}/{value}/…`, by id. */
export const setupList: Handler = ({ segments, tags }) => {
  const asked = readFilters(segments.slice(1), rules);
  if ("error" in asked) return asked;
  const { flow, setup, tag, limit } = asked.filters;
  if (Object.keys(asked.filters).length === 0) return { error: 670 };
  if (Number(limit) > 1000) return { error: 676 };
  const tagsOf = (id: number) => tags.setup.get(id) ?? [];
  const matching = sampleCatalogue.setups.filter(
    (row) =>
      isAmong(flow, row.flow_id) &&
      isAmong(setup, row.id) &&
      (tag === undefined || tagsOf(row.id).some(([known]) => isSameText(known, tag))),
  );
  const rows = pageOf(matching, asked.filters);
  if (rows.length === 0) return { error: 674 };
  // Each parameter comes once for each tag: legacy joins the tags.
  const listed = (row: SetupRow) =>
    parameterElements(row).flatMap((it) => Array.from({ length: Math.max(1, tagsOf(row.id).length) }, () => it));
  return {
    root: element(
      "setups",
      rows.map((row) =>
        element("setup", [element("setup_id", row.id), element("flow_id", row.flow_id), ...listed(row)]),
      ),
    ),
  };
};
