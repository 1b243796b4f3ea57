import { z } from "zod";
import { secrets, settingsSchema } from "./settings.ts";

type Described = { description?: string; default?: unknown };

/** What `--help` prints: how to call it, and every setting with its default. */
export const helpText = (): string => {
  const rows = Object.entries(settingsSchema.shape).map(([name, field]) => {
    const { description = "", default: usual } = z.toJSONSchema(field, {
      io: "input",
      unrepresentable: "any",
    }) as Described;
    const shown = usual === undefined || secrets.has(name) ? "" : ` [${JSON.stringify(usual)}]`;
    return `  ${name.padEnd(20)} ${description}${shown}`;
  });
  return [
    "Serves the typed catalogue interface over a legacy server, and passes everything else through to it.",
    "",
    "  npm start                 run the gateway; without LEGACY_URL over a sample legacy of its own",
    "  npm start -- --check --strict   the same, and fail where the ledger of expected differences has an entry that has ended or allows nothing",
    "  npm start -- --check      validate the configuration, ask legacy, print what was found (exit 0 good, 1 not, 2 bad configuration)",
    "  npm start -- --help       this text",
    "",
    "Settings, from the environment or from a JSON file named by CONFIG (the environment wins):",
    ...rows,
    "",
    "Lists are written as JSON or parted by commas: PREFIXES=/v1,/api/v2",
    "",
  ].join("\n");
};
