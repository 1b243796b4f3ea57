import type { z } from "zod";
import { described, secretSettings, settingsByGroup, type SettingsFragment } from "../src/operation/index.ts";

/** The default of a setting as a person reads it: `64 MiB`; "" if it has no default, or an empty default. */
export const shownDefault = (field: z.ZodType): string => {
  const { default: value } = described(field);
  if (Array.isArray(value)) return value.join(",");
  const mebibytes = Number(value) / 1024 ** 2;
  if (mebibytes >= 1 && Number.isInteger(mebibytes)) return `${Number(value)} (${mebibytes} MiB)`;
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "").replace("{}", "");
};

const row = (name: string, about: string) => `  ${name.padEnd(27)} ${about}`;

/** The text that `--help` prints below the commands: every setting with its default. */
export const settingsHelp = (fragments: readonly SettingsFragment[]): string =>
  [
    "",
    "Settings, from the environment or from a file (the environment wins). docs/operate.md says more of each.",
    row(
      "CONFIG",
      "Path of that file: JSON, or YAML (.yaml, .yml); in a clone npm run docs -- config-schema describes it to editors",
    ),
    row("..._FILE", `Path of a file with the value, in place of ${[...secretSettings(fragments)].join(", ")}`),
    "A list may be one text, also in the file: JSON, or parted by commas: PREFIXES=/v1,/api/v2",
    ...Object.entries(settingsByGroup(fragments)).flatMap(([group, shape]) => [
      "",
      `${group}:`,
      ...Object.entries(shape as Record<string, z.ZodType>).map(([name, field]) => {
        const { description = "" } = described(field);
        const byDefault = shownDefault(field);
        return row(name, `${description}${byDefault === "" ? "" : ` [${byDefault}]`}`);
      }),
    ]),
    "",
  ].join("\n");
