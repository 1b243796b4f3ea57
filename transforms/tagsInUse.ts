import { endpoint, type Route } from "../src/endpoint/endpoint.ts";
import { collection } from "../src/endpoint/groups.ts";
import { get } from "../src/endpoint/legacyRequest.ts";
import { anyOrder, list, unwrapped } from "../src/rules/compose.ts";
import { text, verbatim } from "../src/rules/values.ts";
import { kinds, type Taggable } from "./tagging.ts";

/** An endpoint that lists the tags of all entities of a kind. */
export const tagsInUse = (route: Route, of: Taggable, also: Route[]) =>
  endpoint(route, {
    summary: `All tags that some ${kinds[of].group} has.`,
    also,
    input: {},
    legacy: () => get`/${of}/tag/list`,
    // Legacy escapes tags in its JSON, but not in its XML.
    output: unwrapped(`${of}_tag_list`, unwrapped("tag", anyOrder(list(verbatim(text))))),
    cache: {
      fresh: "5m",
      staleWhileRevalidate: "1h",
      staleIfError: "24h",
      groups: () => [collection(kinds[of].group)],
    },
    // No entity has a tag.
    modern: { codes: [1002] },
    examples: { all: {} },
    exampleAnswer: ["study_14", "time_series"],
  });
