import { endpoint, type Route } from "../src/endpoint/endpoint.ts";
import { identifier, matching } from "../src/endpoint/field.ts";
import { written } from "../src/endpoint/groups.ts";
import { get, post } from "../src/endpoint/legacyRequest.ts";
import { anyOrder, entriesOf, list, member, object } from "../src/rules/compose.ts";
import { isObject, type Json } from "../src/rules/rule.ts";
import { integer, text } from "../src/rules/values.ts";
import { unknownEntity } from "./outcomes.ts";

/** A tag's name. */
export const tagName = matching(/^[A-Za-z0-9_.-]{1,64}$/);

type Entity = { tag: string } & { data_id?: number; setup_id?: number };

type Tagging = {
  summary: string;
  also?: Route[];
  /** The body's field for the entity, by legacy's name. */
  id: "data_id" | "setup_id";
  action: `${"data" | "setup"}_${"tag" | "untag"}`;
};

/** An endpoint that adds or removes one tag, and answers with all tags of the entity. */
export const tagging = (route: Route, { summary, also, id, action }: Tagging) =>
  endpoint(route, {
    summary,
    ...(also ? { also } : {}),
    input: { [id]: identifier, tag: tagName },
    writes: (input: Entity) => written(id === "data_id" ? "dataset" : "setup", [input[id] as number]),
    legacy: (input: Entity) => post(`/${action.replace("_", "/")}`, { [id]: input[id] as number, tag: input.tag }),
    notFound: unknownEntity,
    // 473, 474: it has the tag already, perhaps in another case. 475: no such tag.
    modern: { codes: action.endsWith("_tag") ? [473, 474] : [475] },
    ...(id === "data_id" ? { access: readableDataset, recover: settleByDataset(id, action) } : {}),
    output: object({ [action]: object({ id: integer, tag: anyOrder(list(text)) }) }),
    examples: { one: { [id]: 1, tag: "my-tag" } },
  });

/** Legacy lets every key tag a private dataset, and answers with its tags. */
const readableDataset = { endpoint: "getDataset", input: ({ data_id }: Entity) => ({ dataset_id: data_id }) };

/** When legacy's search index fails (105), the tag is stored nevertheless. A dataset shows its tags; a setup does not. */
const settleByDataset = (id: "data_id", action: string) => ({
  code: 105,
  look: (input: Entity) => get`/data/${input[id] as number}`,
  answer(input: Entity, legacy: Json) {
    const dataset = member(legacy, "data_set_description");
    if (!isObject(dataset)) return undefined;
    const tags = entriesOf(dataset["tag"]);
    // Legacy compares tags without regard to case.
    const there = tags.some((tag) => typeof tag === "string" && tag.toLowerCase() === input.tag.toLowerCase());
    return there === action.endsWith("_tag") ? { [action]: { id: input[id] as number, tag: tags } } : undefined;
  },
});
