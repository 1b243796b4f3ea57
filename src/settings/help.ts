import { z } from "zod";
import { secretSettings, type SettingsFragment, settingsSchemaOf } from "./settings.ts";

type Described = { description?: string; default?: unknown };

/** What `--help` prints: how to call it, and every setting with its default. */
export const settingsHelp = (fragments: readonly SettingsFragment[]): string => {
  const secrets = secretSettings(fragments);
  const rows = Object.entries(settingsSchemaOf(fragments).shape).map(([name, field]) => {
    const { description = "", default: byDefault } = z.toJSONSchema(field as z.ZodType, {
      io: "input",
      unrepresentable: "any",
    }) as Described;
    const shown = byDefault === undefined || secrets.has(name) ? "" : ` [${JSON.stringify(byDefault)}]`;
    return `  ${name.padEnd(20)} ${description}${shown}`;
  });
  return [
    "Serves the typed catalogue interface over a legacy server, and passes everything else through to it.",
    "",
    "  npm start                     run the gateway; without LEGACY_URL over a sample legacy of its own",
    "  npm start -- --check          validate the configuration, ask legacy, print what was found (exit 0 good, 1 not, 2 bad configuration)",
    "  npm start -- --check --strict the same, and fail where the ledger of expected differences has an entry that has ended or allows nothing",
    "  npm start -- --check --json   the same, as one JSON object",
    "  npm start -- --help           this text",
    "  npm start -- --version        name and version",
    "",
    "Settings, from the environment or from a file (the environment wins):",
    `  ${"CONFIG".padEnd(20)} the path of that file: JSON, or YAML (.yaml, .yml); npm run docs -- config-schema describes it to editors`,
    `  ${"..._FILE".padEnd(20)} the path of a file with the value, in place of ${[...secrets].join(", ")}`,
    ...rows,
    "",
    "Lists are written as JSON or parted by commas: PREFIXES=/v1,/api/v2",
    "",
  ].join("\n");
};
