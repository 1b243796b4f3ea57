import { statSync } from "node:fs";
import { createRequire } from "node:module";
import type * as yaml from "yaml";
import { readText } from "./readText.ts";

/** The largest file in bytes. YAML takes a microsecond a byte, and the file is read again while the gateway serves. */
const MAX_JSON = 1024 ** 2;
const MAX_YAML = 64 * 1024;
/** The number of nodes that aliases may add, as a multiple of the nodes that are written. */
const MAX_ALIASES = 20;

type Parsed = { value: unknown } | { why: string };

/**
 * Reads the settings in a file: YAML 1.2 if its name ends with `.yaml` or `.yml`, else JSON. `errors`: the reasons why
 * it cannot be used.
 */
export const readConfigurationFile = (path: string): { values: Record<string, unknown> } | { errors: string[] } => {
  const isYaml = /\.ya?ml$/i.test(path);
  // Reading a pipe would wait without end, also while the gateway serves.
  const isPipe = statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
  const read = isPipe ? { why: "a pipe" } : readText(path, isYaml ? MAX_YAML : MAX_JSON);
  const allowed = "allowed is the path of a JSON or YAML (.yaml, .yml) file";
  if ("why" in read) return { errors: [`CONFIG: ${path} cannot be read (${read.why}); ${allowed}`] };
  const parsed = isYaml ? parseYaml(read.text) : parseJson(read.text);
  if ("why" in parsed)
    return { errors: [`CONFIG: ${path} is not valid ${isYaml ? "YAML" : "JSON"}${parsed.why}; ${allowed}`] };
  const { value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { errors: [`CONFIG: ${path} has to hold ${isYaml ? "a YAML mapping" : "a JSON object"} of settings`] };
  // An editor finds the schema by `$schema`.
  const { $schema: _, ...values } = value as Record<string, unknown>;
  return { values };
};

// The parsers' messages quote the file, which may hold a key: only the position and the kind of an error are shown.

const parseJson = (text: string): Parsed => {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec((error as Error).message) ?? [];
    return { why: line === undefined ? "" : ` (line ${line}, column ${column})` };
  }
};

const parseYaml = (text: string): Parsed => {
  // Loaded only when it is used: most starts read no YAML.
  const { parseDocument } = createRequire(import.meta.url)("yaml") as typeof yaml;
  const document = parseDocument(text, { schema: "core", resolveKnownTags: false, stringKeys: true });
  const wrong = document.errors[0] ?? document.warnings[0];
  if (wrong !== undefined) {
    const [start] = wrong.linePos ?? [];
    const position = start === undefined ? "" : `line ${start.line}, column ${start.col}: `;
    return { why: ` (${position}${wrong.code.toLowerCase().replaceAll("_", " ")})` };
  }
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown };
  } catch {
    return { why: ` (an alias without an anchor, or aliases that stand for more than ${MAX_ALIASES} nodes each)` };
  }
};

/** A warning if every user of the machine may read a file with secrets in it; `names`: the secret settings in it. */
export const readableByAll = (path: string, names: readonly string[]): string[] => {
  const [name] = names;
  if (name === undefined || process.platform === "win32") return [];
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o004) === 0) return [];
  return [
    `CONFIG: every user of this machine may read ${path}, which holds ${names.join(", ")}: run chmod o-r on it, or name a file with the secret by ${name}_FILE`,
  ];
};
