import {
  anyOrder,
  collection,
  dropped,
  endpoint,
  entity,
  get,
  identifier,
  integer,
  isoTimestamp,
  list,
  nested,
  nullable,
  object,
  renamed,
  type Rule,
  text,
  unwrapped,
} from "../src/catalogue/index.ts";
import { legacyError } from "./legacyErrors.ts";
import { lossesIn } from "./legacyLosses.ts";
import { lasting } from "./lifetimes.ts";

/** A flow, and its components. */
type Flow = { id: number; tag: string[]; subflows: Subflow[] };
type Subflow = { identifier: string | null; flow: Flow };

/** The most nested flows whose groups an answer belongs to. */
const MAX_NAMED = 100;

/** The ids of all nested flows; if there are more than `MAX_NAMED`, only the first `MAX_NAMED + 1`. */
const idsWithin = (subflows: readonly Subflow[]): number[] => {
  const ids: number[] = [];
  const left = [...subflows];
  for (let subflow = left.pop(); subflow !== undefined && ids.length <= MAX_NAMED; subflow = left.pop()) {
    ids.push(subflow.flow.id);
    left.push(...subflow.flow.subflows);
  }
  return ids;
};

/** The groups of nested flows: an answer shows their tags, so a write to one of them invalidates it. */
const groupsWithin = (subflows: readonly Subflow[]): string[] => {
  const ids = idsWithin(subflows);
  return ids.length > MAX_NAMED ? [collection("flow")] : ids.map((id) => `flow/${id}`);
};

/** Legacy's fields that the specification drops. */
const notSpecified =
  "custom_name creator contributor licence full_description installation_notes source_url binary_url source_format binary_format source_md5 binary_md5".split(
    " ",
  );
const droppedFields = Object.fromEntries(notSpecified.map((name) => [name, dropped]));

const flow: Rule<Flow> = nested((within) =>
  object({
    id: integer,
    uploader: nullable(integer),
    name: nullable(text),
    class_name: nullable(text),
    version: nullable(integer),
    external_version: nullable(text),
    description: nullable(text),
    upload_date: nullable(isoTimestamp),
    language: nullable(text),
    dependencies: nullable(text),
    parameter: list(
      object({
        name: nullable(text),
        data_type: nullable(text),
        default_value: nullable(text),
        description: nullable(text),
      }),
    ),
    subflows: renamed("component", list(object({ identifier: nullable(text), flow: within }))),
    tag: anyOrder(list(text)),
    ...droppedFields,
  }),
);

export const getFlow = endpoint("GET /flows/{flow_id}", {
  summary: "A flow, its parameters and the flows it is made of.",
  also: ["GET /flow/{flow_id}"],
  input: { flow_id: identifier },
  legacy: ({ flow_id }) => get`/flow/${flow_id}`,
  notFound: legacyError(181),
  echoes: { flow_id: ["id"] },
  modern: { problems: { "flow-not-found": legacyError(181) } },
  output: unwrapped("flow", flow),
  legacyForm: {
    elements: `flow{id uploader name class_name? version external_version? description? upload_date language? dependencies?
    parameter*{name data_type default_value description} component*{identifier flow^} tag*}`,
    isNamedOnly: true,
    losses: {
      ...lossesIn("/flow", notSpecified, "The specification drops this field."),
      ...lossesIn("/flow/component/flow", notSpecified, "The specification drops this field of a component."),
    },
  },
  cache: {
    ...lasting,
    groups: ({ flow_id }, ours) => [
      ...entity("flow", flow_id, ours !== undefined),
      ...(ours ? groupsWithin(ours.subflows) : []),
    ],
  },
  examples: { pipeline: { flow_id: 104 }, unknown: { flow_id: 1_000_000 } },
  exampleAnswer: {
    id: 104,
    uploader: 1,
    name: "sample.Scaled",
    class_name: null,
    version: 1,
    external_version: "Sample_1.0",
    description: "Scales, then decides.",
    upload_date: "2020-09-09T09:09:09",
    language: "English",
    dependencies: "sample_2.0",
    parameter: [{ name: "with_mean", data_type: "boolean", default_value: "true", description: "Sets with_mean." }],
    subflows: [
      {
        identifier: "rule",
        flow: {
          id: 101,
          uploader: 1,
          name: "sample.ZeroRule",
          class_name: "sample.rules.ZeroRule",
          version: 1,
          external_version: "Sample_1.0",
          description: null,
          upload_date: "2020-09-09T09:09:09",
          language: "English",
          dependencies: "sample_2.0",
          parameter: [],
          subflows: [],
          tag: [],
        },
      },
    ],
    tag: ["baseline"],
  },
});
