import {
  amended,
  anyOrder,
  collection,
  endpoint,
  entriesOf,
  get,
  identifier,
  integer,
  isObject,
  type Json,
  list,
  matching,
  member,
  object,
  post,
  type Route,
  text,
  unwrapped,
  verbatim,
} from "../src/catalogue/index.ts";
import { listed } from "./lifetimes.ts";
import { legacyError } from "./legacyErrors.ts";

export const tagName = matching(/^[A-Za-z0-9_.-]{1,64}$/);

/** The kinds of entities that can be tagged, by their names at legacy. */
type Taggable = "data" | "setup" | "flow" | "task" | "run";

type Entity = { tag: string } & { [K in `${Taggable}_id`]?: number };

type TaggedKind = {
  /** The word for an entity, and the name of its cache group. */
  group: string;
  /** The paths below which its tags are: the first path accepts writes, each path lists tags. */
  paths: readonly string[];
  /** The wrapper of legacy's document of a single entity, if that shows its tags. */
  shownAs?: string;
  /** An id that the sample legacy has. */
  example: number;
};

const kinds: Record<Taggable, TaggedKind> = {
  data: { group: "dataset", paths: ["datasets", "data"], shownAs: "data_set_description", example: 1 },
  setup: { group: "setup", paths: ["setup", "setups"], example: 1 },
  flow: { group: "flow", paths: ["flows", "flow"], shownAs: "flow", example: 101 },
  task: { group: "task", paths: ["tasks", "task"], shownAs: "task", example: 1 },
  run: { group: "run", paths: ["runs", "run"], shownAs: "run", example: 1 },
};

const texts = { tag: "Adds a tag to a", untag: "Removes a tag from a" };

/** Defines an endpoint that adds or removes a tag, and answers with all tags of the entity. */
export const tagging = (action: "tag" | "untag", kind: Taggable) => {
  const id = `${kind}_id` as const;
  const { group, paths, shownAs, example } = kinds[kind];
  const wrapper = `${kind}_${action}`;
  // Only a setup's tags have two spellings in the specification.
  const [route, ...also] = (kind === "setup" ? paths : paths.slice(0, 1)).map(
    (path): Route => `POST /${path}/${action}`,
  );
  return endpoint(route as Route, {
    summary: `${texts[action]} ${group}.`,
    ...(also.length > 0 ? { also } : {}),
    input: { [id]: identifier, tag: tagName },
    writes: (input: Entity) => amended(group, [input[id] as number]),
    legacy: (input: Entity) => post(`/${kind}/${action}`, { [id]: input[id] as number, tag: input.tag }),
    notFound: legacyError(472),
    // 473, 474: the entity has the tag already, perhaps in another case. 475: it has no such tag.
    modern: { codes: action === "tag" ? [473, 474] : [475] },
    echoes: { [id]: [wrapper, "id"] },
    ...(kind === "data" ? { access: readableDataset } : {}),
    ...(shownAs === undefined ? {} : { recover: recoverBy(kind, shownAs, action) }),
    output: object({ [wrapper]: object({ id: integer, tag: anyOrder(list(text)) }) }),
    examples: { one: { [id]: example, tag: "my-tag" } },
    exampleAnswer: { [wrapper]: { id: example, tag: action === "tag" ? ["demo", "my-tag"] : ["demo"] } },
  });
};

/** Legacy and the public reference let every key tag a private dataset, and answer with its tags. */
const readableDataset = { endpoint: "getDataset", input: ({ data_id }: Entity) => ({ dataset_id: data_id }) };

/** If legacy's search index fails (105), the tag is stored nevertheless: the entity's document shows it. */
const recoverBy = (kind: Taggable, shownAs: string, action: "tag" | "untag") => ({
  code: 105,
  look: (input: Entity) => get`/${kind}/${input[`${kind}_id`] as number}`,
  answer(input: Entity, legacy: Json) {
    const document = member(legacy, shownAs);
    if (!isObject(document)) return undefined;
    const tags = entriesOf(document["tag"]);
    // Legacy compares tags without regard to case.
    const there = tags.some((tag) => typeof tag === "string" && tag.toLowerCase() === input.tag.toLowerCase());
    return there === (action === "tag")
      ? { [`${kind}_${action}`]: { id: input[`${kind}_id`] as number, tag: tags } }
      : undefined;
  },
});

/** Defines an endpoint that lists the tags of all entities of a kind. */
export const tagsInUse = (kind: Taggable) =>
  endpoint(`GET /${kind}/tag/list`, {
    summary: `All tags that some ${kinds[kind].group} has.`,
    also: [`GET /${kinds[kind].paths.find((path) => path !== kind)}/tag/list`],
    input: {},
    legacy: () => get`/${kind}/tag/list`,
    // Legacy escapes tags in its JSON, but not in its XML.
    output: unwrapped(`${kind}_tag_list`, unwrapped("tag", anyOrder(list(verbatim(text))))),
    legacyForm: { elements: `${kind}_tag_list{tag*}`, isTemplate: true },
    cache: {
      ...listed,
      fresh: "5m",
      groups: () => [collection(kinds[kind].group)],
    },
    // Modern's code for: no entity has a tag.
    modern: { codes: [1002] },
    examples: { all: {} },
    exampleAnswer: ["study_14", "time_series"],
  });
