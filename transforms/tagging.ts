import { endpoint, type Route } from "../src/catalogue/endpoint/endpoint.ts";
import { identifier, matching } from "../src/catalogue/endpoint/field.ts";
import { collection, tagged } from "../src/catalogue/endpoint/groups.ts";
import { get, post } from "../src/catalogue/endpoint/legacyRequest.ts";
import { anyOrder, entriesOf, list, member, object, unwrapped } from "../src/catalogue/rules/compose.ts";
import { isObject, type Json } from "../src/catalogue/rules/rule.ts";
import { integer, text, verbatim } from "../src/catalogue/rules/values.ts";
import { unknownEntity } from "./outcomes.ts";

/** A tag's name. */
export const tagName = matching(/^[A-Za-z0-9_.-]{1,64}$/);

/** What legacy's interface calls what can be tagged. */
type Taggable = "data" | "setup" | "flow" | "task" | "run";

type Entity = { tag: string } & { [K in `${Taggable}_id`]?: number };

type Kind = {
  /** The word for one, which its group is called by. */
  group: string;
  /** The paths that its tags lie below: the first takes tags, any lists them. */
  paths: readonly string[];
  /** The wrapper of legacy's document of one, which shows its tags; a setup's does not. */
  shownAs?: string;
  /** One that the sample legacy has. */
  example: number;
};

/** Everything that can be tagged. */
const kinds: Record<Taggable, Kind> = {
  data: { group: "dataset", paths: ["datasets", "data"], shownAs: "data_set_description", example: 1 },
  setup: { group: "setup", paths: ["setup", "setups"], example: 1 },
  flow: { group: "flow", paths: ["flows", "flow"], shownAs: "flow", example: 101 },
  task: { group: "task", paths: ["tasks", "task"], shownAs: "task", example: 1 },
  run: { group: "run", paths: ["runs", "run"], shownAs: "run", example: 1 },
};

const texts = { tag: "Adds a tag to a", untag: "Removes a tag from a" };

/** An endpoint that adds or removes one tag, and answers with all tags of the entity. */
export const tagging = (action: "tag" | "untag", of: Taggable) => {
  const id = `${of}_id` as const;
  const { group, paths, shownAs, example } = kinds[of];
  const wrapper = `${of}_${action}`;
  // The setup's is the specification's spelling, which has a second one.
  const [route, ...also] = (of === "setup" ? paths : paths.slice(0, 1)).map((path): Route => `POST /${path}/${action}`);
  return endpoint(route as Route, {
    summary: `${texts[action]} ${group}.`,
    ...(also.length > 0 ? { also } : {}),
    input: { [id]: identifier, tag: tagName },
    writes: (input: Entity) => tagged(group, [input[id] as number]),
    legacy: (input: Entity) => post(`/${of}/${action}`, { [id]: input[id] as number, tag: input.tag }),
    notFound: unknownEntity,
    // 473, 474: it has the tag already, perhaps in another case. 475: no such tag.
    modern: { codes: action === "tag" ? [473, 474] : [475] },
    ...(of === "data" ? { access: readableDataset } : {}),
    ...(shownAs === undefined ? {} : { recover: recoverBy(of, shownAs, action) }),
    output: object({ [wrapper]: object({ id: integer, tag: anyOrder(list(text)) }) }),
    examples: { one: { [id]: example, tag: "my-tag" } },
    exampleAnswer: { [wrapper]: { id: example, tag: action === "tag" ? ["demo", "my-tag"] : ["demo"] } },
  });
};

/** Legacy and the public reference let every key tag a private dataset, and answer with its tags. */
const readableDataset = { endpoint: "getDataset", input: ({ data_id }: Entity) => ({ dataset_id: data_id }) };

/** When legacy's search index fails (105), the tag is stored nevertheless: the entity's own document shows it. */
const recoverBy = (of: Taggable, shownAs: string, action: "tag" | "untag") => ({
  code: 105,
  look: (input: Entity) => get`/${of}/${input[`${of}_id`] as number}`,
  answer(input: Entity, legacy: Json) {
    const document = member(legacy, shownAs);
    if (!isObject(document)) return undefined;
    const tags = entriesOf(document["tag"]);
    // Legacy compares tags without regard to case.
    const there = tags.some((tag) => typeof tag === "string" && tag.toLowerCase() === input.tag.toLowerCase());
    return there === (action === "tag")
      ? { [`${of}_${action}`]: { id: input[`${of}_id`] as number, tag: tags } }
      : undefined;
  },
});

/** An endpoint that lists the tags of all entities of a kind. */
export const tagsInUse = (of: Taggable) =>
  endpoint(`GET /${of}/tag/list`, {
    summary: `All tags that some ${kinds[of].group} has.`,
    also: [`GET /${kinds[of].paths.find((path) => path !== of)}/tag/list`],
    input: {},
    legacy: () => get`/${of}/tag/list`,
    // Legacy escapes tags in its JSON, but not in its XML.
    output: unwrapped(`${of}_tag_list`, unwrapped("tag", anyOrder(list(verbatim(text))))),
    cache: {
      fresh: "5m",
      staleWhileRevalidate: "1h",
      staleIfError: "7d",
      groups: () => [collection(kinds[of].group)],
    },
    // No entity has a tag.
    modern: { codes: [1002] },
    examples: { all: {} },
    exampleAnswer: ["study_14", "time_series"],
  });
