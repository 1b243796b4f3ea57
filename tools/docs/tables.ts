import { readFileSync, writeFileSync } from "node:fs";
import { withDefaults } from "../../src/gateway/index.ts";
import type { z } from "zod";
import type { Endpoint } from "../../src/catalogue/index.ts";
import { type EventDefinitions, settingsByGroup, type SettingsFragment } from "../../src/operation/index.ts";
import { shownDefault } from "../settingsHelp.ts";
import { outageForms } from "../sampleLegacy/outages.ts";

type Endpoints = Record<string, Endpoint>;

/** The sources of the tables. `fragments`: the settings of features; `events`: those of the core and of features. */
export type Definitions = { endpoints: Endpoints; fragments: readonly SettingsFragment[]; events: EventDefinitions };

const row = (...cells: string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
const table = (heads: string[], rows: string[][]) =>
  [row(...heads), row(...heads.map(() => "---")), ...rows.map((cells) => row(...cells))].join("\n");

/** Every endpoint: its name, all of its routes, and its summary. */
const routesTable = (endpoints: Endpoints): string =>
  table(
    ["endpoint", "routes, below the prefix", "what it does"],
    Object.entries(endpoints).map(([name, { routes, summary }]) => [
      `\`${name}\``,
      routes.map((route) => `\`${route}\``).join("<br>"),
      summary,
    ]),
  );

/** The endpoints whose answers are cached, with their lifetimes and their callers. */
const lifetimesTable = (endpoints: Endpoints): string => {
  const rows = new Map<string, { cells: string[]; names: string[] }>();
  for (const [name, { cache }] of Object.entries(endpoints)) {
    if (cache === undefined) continue;
    const { fresh, staleWhileRevalidate, staleIfError, notFoundTtl, preconditionTtl } = withDefaults(cache);
    const callers = cache.personal ? "callers without a key; else cached for one key" : "all callers";
    const cells = [fresh, staleWhileRevalidate, staleIfError, notFoundTtl, preconditionTtl, callers];
    const shared = rows.get(cells.join()) ?? { cells, names: [] };
    rows.set(cells.join(), shared);
    shared.names.push(`\`${name}\``);
  }
  return table(
    ["endpoints", "fresh", "stale while revalidated", "stale if legacy fails", "404, 410", "412", "shared by"],
    [...rows.values()].map(({ cells, names }) => [names.join(", "), ...cells]),
  );
};

/** Every setting below the heading of its group: its default, and its description. */
const settingsTables = (fragments: Definitions["fragments"]): string =>
  Object.entries(settingsByGroup(fragments))
    .map(([group, shape]) => {
      const rows = Object.entries(shape as Record<string, z.ZodType>).map(([name, field]) => [
        `\`${name}\``,
        shownDefault(field) || "none",
        field.description ?? "",
      ]);
      return `### ${group}\n\n${table(["setting", "default", "what it is"], rows)}`;
    })
    .join("\n\n");

/** Every event with its level. */
const eventsTable = (events: EventDefinitions): string =>
  table(
    ["event", "level", "what happened, and what to do"],
    Object.entries(events).map(([name, { level, msg, notes }]) => [
      `\`${name}\``,
      level,
      notes === undefined ? msg : `${msg} ${notes}`,
    ]),
  );

const outagesTable = (): string =>
  table(
    ["form", "what the sample legacy answers"],
    Object.entries(outageForms).map(([name, { means }]) => [`\`${name}\``, means]),
  );

const marked = (name: string, content: string) =>
  `<!-- ${name}: made by npm run docs -->\n${content}\n<!-- /${name} -->`;

/** The documents with generated tables, by their path from the repository's root. */
export const documentsWithTables = ["docs/clients.md", "docs/operate.md", "docs/caching.md", "docs/tools.md"] as const;

/** A document's text with its marked tables rewritten. */
export const withTables = (text: string, { endpoints, fragments, events }: Definitions): string =>
  Object.entries({
    routes: routesTable(endpoints),
    lifetimes: lifetimesTable(endpoints),
    settings: settingsTables(fragments),
    events: eventsTable(events),
    outages: outagesTable(),
  }).reduce(
    (before, [name, content]) =>
      before.replace(new RegExp(`<!-- ${name}: [^]*?<!-- /${name} -->`), () => marked(name, content)),
    text,
  );

/** Rewrites the tables of all documents, in place. */
export const writeTables = (definitions: Definitions): void => {
  for (const path of documentsWithTables) {
    const file = new URL(`../../${path}`, import.meta.url);
    writeFileSync(file, withTables(readFileSync(file, "utf8"), definitions));
  }
};
