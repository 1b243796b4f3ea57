import { z } from "zod";
import { secretSettings, type SettingsFragment, settingsSchemaOf } from "./settings.ts";

type Described = { description?: string; default?: unknown };

/** What `--help` prints below the commands: every setting with its default. */
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
