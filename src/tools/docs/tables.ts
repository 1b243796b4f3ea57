import { withDefaults } from "../../cache/lifetimes.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Rule } from "../../rules/rule.ts";

type Endpoints = Record<string, Endpoint>;

const row = (...cells: string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
const table = (heads: string[], rows: string[][]) =>
  [row(...heads), row(...heads.map(() => "---")), ...rows.map((cells) => row(...cells))].join("\n");

/** Every endpoint: its routes (the first is the usual one), and what it is for. */
export const endpointsTable = (endpoints: Endpoints): string =>
  table(
    ["endpoint", "routes, below the prefix", "what it answers"],
    Object.entries(endpoints).map(([name, endpoint]) => [
      `\`${name}\``,
      endpoint.routes.map((route) => `\`${route}\``).join("<br>"),
      endpoint.summary + (endpoint.writes ? " Needs a key that may write." : ""),
    ]),
  );

/** Every endpoint whose answers are kept, and for how long. */
export const windowsTable = (endpoints: Endpoints): string =>
  table(
    ["endpoint", "fresh", "stale while revalidated", "stale if legacy fails", "404, 410", "412", "whose"],
    Object.entries(endpoints).flatMap(([name, { cache }]) => {
      if (cache === undefined) return [];
      const {
        fresh,
        staleWhileRevalidate: stale,
        staleIfError,
        notFoundTtl: absent,
        preconditionTtl: unready,
      } = withDefaults(cache);
      const whose = cache.personal ? "nobody's for those without a key, else the key's own" : "everybody's";
      return [[`\`${name}\``, fresh, stale, staleIfError, absent, unready, whose]];
    }),
  );

/** A rule and all rules inside it. */
const withInner = (rule: Rule): Rule[] => [rule, ...Object.values(rule.inside ?? {}).flatMap(withInner)];

/** Every rule by name: what it does, and which endpoints it works in. */
export const rulesTable = (endpoints: Endpoints): string => {
  const uses = new Map<string, { does: string; in: Set<string> }>();
  for (const [name, { output }] of Object.entries(endpoints))
    for (const rule of withInner(output)) {
      const use = uses.get(rule.name) ?? { does: rule.does, in: new Set() };
      uses.set(rule.name, { ...use, in: use.in.add(name) });
    }
  const all = Object.keys(endpoints).length;
  return table(
    ["rule", "what it does", "where"],
    [...uses]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, use]) => [
        `\`${name}\``,
        use.does,
        use.in.size === all ? "everywhere" : [...use.in].map((one) => `\`${one}\``).join(", "),
      ]),
  );
};

const marked = (name: string, content: string) =>
  `<!-- ${name}: made by npm run docs -->\n${content}\n<!-- /${name} -->`;

/** A text with its marked tables made anew. */
export const withTables = (text: string, endpoints: Endpoints): string =>
  Object.entries({
    endpoints: endpointsTable(endpoints),
    rules: rulesTable(endpoints),
    windows: windowsTable(endpoints),
  }).reduce(
    (before, [name, content]) =>
      before.replace(new RegExp(`<!-- ${name}: [^]*?<!-- /${name} -->`), () => marked(name, content)),
    text,
  );
