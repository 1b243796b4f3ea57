import { readFileSync, writeFileSync } from "node:fs";
import { withDefaults } from "../../cache/entry.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Rule } from "../../rules/rule.ts";

type Endpoints = Record<string, Endpoint>;

const row = (...cells: string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
const table = (heads: string[], rows: string[][]) =>
  [row(...heads), row(...heads.map(() => "---")), ...rows.map((cells) => row(...cells))].join("\n");

/** Every endpoint that reads: its main route, and what it answers. */
const endpointsTable = (endpoints: Endpoints): string =>
  table(
    ["route, below the prefix", "what it answers"],
    Object.values(endpoints).flatMap((endpoint) =>
      endpoint.writes ? [] : [[`\`${endpoint.routes[0]}\``, endpoint.summary]],
    ),
  );

/** Every endpoint: its name, all of its routes, what it takes, and what it writes. */
const routesTable = (endpoints: Endpoints): string =>
  table(
    ["endpoint", "routes, below the prefix", "fields", "writes"],
    Object.entries(endpoints).map(([name, endpoint]) => [
      `\`${name}\``,
      endpoint.routes.map((route) => `\`${route}\``).join("<br>"),
      Object.keys(endpoint.input)
        .map((field) => `\`${field}\``)
        .join(", "),
      endpoint.writes ? endpoint.summary : "",
    ]),
  );

/** Every endpoint whose answers are cached, for how long, and which callers share them. */
const lifetimesTable = (endpoints: Endpoints): string =>
  table(
    ["endpoint", "fresh", "stale while revalidated", "stale if legacy fails", "404, 410", "412", "shared by"],
    Object.entries(endpoints).flatMap(([name, { cache }]) => {
      if (cache === undefined) return [];
      const { fresh, staleWhileRevalidate, staleIfError, notFoundTtl, preconditionTtl } = withDefaults(cache);
      const callers = cache.personal ? "callers without a key; else cached for one key" : "all callers";
      return [[`\`${name}\``, fresh, staleWhileRevalidate, staleIfError, notFoundTtl, preconditionTtl, callers]];
    }),
  );

/** A rule and all rules inside it. */
const withInner = (rule: Rule): Rule[] => [rule, ...Object.values(rule.inside ?? {}).flatMap(withInner)];

/** Every rule by name: what it does, and which endpoints use it. */
const rulesTable = (endpoints: Endpoints): string => {
  const uses = new Map<string, { does: string; in: Set<string> }>();
  for (const [name, { output }] of Object.entries(endpoints))
    for (const rule of withInner(output)) {
      const use = uses.get(rule.name) ?? { does: rule.does, in: new Set() };
      uses.set(rule.name, { ...use, in: use.in.add(name) });
    }
  const all = Object.keys(endpoints).length;
  return table(
    ["rule", "what it does", "used by"],
    [...uses]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, use]) => [
        `\`${name}\``,
        use.does,
        use.in.size === all ? "all endpoints" : [...use.in].map((one) => `\`${one}\``).join(", "),
      ]),
  );
};

const marked = (name: string, content: string) =>
  `<!-- ${name}: made by npm run docs -->\n${content}\n<!-- /${name} -->`;

/** The documents with a table in them, from the repository's root. */
export const documentsWithTables = ["README.md", "docs/caching.md", "docs/rules.md", "docs/endpoints.md"] as const;

/** A document's text with its marked tables made anew. */
export const withTables = (text: string, endpoints: Endpoints): string =>
  Object.entries({
    endpoints: endpointsTable(endpoints),
    routes: routesTable(endpoints),
    rules: rulesTable(endpoints),
    lifetimes: lifetimesTable(endpoints),
  }).reduce(
    (before, [name, content]) =>
      before.replace(new RegExp(`<!-- ${name}: [^]*?<!-- /${name} -->`), () => marked(name, content)),
    text,
  );

/** Writes the tables of all documents anew, in place. */
export const writeTables = (endpoints: Endpoints): void => {
  for (const path of documentsWithTables) {
    const file = new URL(`../../../${path}`, import.meta.url);
    writeFileSync(file, withTables(readFileSync(file, "utf8"), endpoints));
  }
};
