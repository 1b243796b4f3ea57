import { endpoint, type Route } from "../src/endpoint/endpoint.ts";
import { identifier, matching } from "../src/endpoint/field.ts";
import { written } from "../src/endpoint/groups.ts";
import { get, type LegacyRequest, post, type Unsent } from "../src/endpoint/legacyRequest.ts";
import { anyOrder, entriesOf, list, member, object } from "../src/rules/compose.ts";
import { isObject, type Json } from "../src/rules/rule.ts";
import { integer, text } from "../src/rules/values.ts";
import { unknownEntity } from "./outcomes.ts";

/** A tag's name. */
export const tagName = matching(/^[A-Za-z0-9_.-]{1,64}$/);

/** What legacy's interface calls what can be tagged. */
export type Taggable = "data" | "setup" | "flow" | "task" | "run";

type Entity = { tag: string } & { [K in `${Taggable}_id`]?: number };

/** Where legacy shows an entity with its tags, and the wrapper of that document. */
type Shown = { document(id: number): LegacyRequest | Unsent; wrapper: string };

/** The group of each kind's entities, and where their tags can be read; a setup shows none. */
export const kinds: Record<Taggable, { group: string; shown?: Shown }> = {
  data: { group: "dataset", shown: { document: (id) => get`/data/${id}`, wrapper: "data_set_description" } },
  setup: { group: "setup" },
  flow: { group: "flow", shown: { document: (id) => get`/flow/${id}`, wrapper: "flow" } },
  task: { group: "task", shown: { document: (id) => get`/task/${id}`, wrapper: "task" } },
  run: { group: "run", shown: { document: (id) => get`/run/${id}`, wrapper: "run" } },
};

type Tagging = {
  summary: string;
  also?: Route[];
  /** What is tagged: the body has its id as `data_id`, `flow_id`, … */
  of: Taggable;
  action: "tag" | "untag";
};

/** An endpoint that adds or removes one tag, and answers with all tags of the entity. */
export const tagging = (route: Route, { summary, also, of, action }: Tagging) => {
  const id = `${of}_id` as const;
  const { group, shown } = kinds[of];
  const wrapper = `${of}_${action}`;
  return endpoint(route, {
    summary,
    ...(also ? { also } : {}),
    input: { [id]: identifier, tag: tagName },
    writes: (input: Entity) => written(group, [input[id] as number]),
    legacy: (input: Entity) => post(`/${of}/${action}`, { [id]: input[id] as number, tag: input.tag }),
    notFound: unknownEntity,
    // 473, 474: it has the tag already, perhaps in another case. 475: no such tag.
    modern: { codes: action === "tag" ? [473, 474] : [475] },
    ...(of === "data" ? { access: readableDataset } : {}),
    ...(shown ? { recover: settleBy(shown, id, action, wrapper) } : {}),
    output: object({ [wrapper]: object({ id: integer, tag: anyOrder(list(text)) }) }),
    examples: { one: { [id]: EXAMPLE_IDS[of], tag: "my-tag" } },
    exampleAnswer: { [wrapper]: { id: EXAMPLE_IDS[of], tag: action === "tag" ? ["demo", "my-tag"] : ["demo"] } },
  });
};

/** Entities that the sample legacy has. */
const EXAMPLE_IDS: Record<Taggable, number> = { data: 1, setup: 1, flow: 101, task: 1, run: 1 };

/** Legacy lets every key tag a private dataset, and answers with its tags. */
const readableDataset = { endpoint: "getDataset", input: ({ data_id }: Entity) => ({ dataset_id: data_id }) };

/** When legacy's search index fails (105), the tag is stored nevertheless: the entity's own document shows it. */
const settleBy = (shown: Shown, id: `${Taggable}_id`, action: Tagging["action"], wrapper: string) => ({
  code: 105,
  look: (input: Entity) => shown.document(input[id] as number),
  answer(input: Entity, legacy: Json) {
    const document = member(legacy, shown.wrapper);
    if (!isObject(document)) return undefined;
    const tags = entriesOf(document["tag"]);
    // Legacy compares tags without regard to case.
    const there = tags.some((tag) => typeof tag === "string" && tag.toLowerCase() === input.tag.toLowerCase());
    return there === (action === "tag") ? { [wrapper]: { id: input[id] as number, tag: tags } } : undefined;
  },
});
