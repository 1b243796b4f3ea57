import { readFileSync } from "node:fs";
import { z } from "zod";
import { becomesAnother } from "../endpoint/canonicalRequest.ts";
import { placesOf } from "./placesOf.ts";
import { secrets, type Settings, settingsSchema } from "./settings.ts";
import { HIDDEN, withoutUrlSecrets } from "../scrub/secrets.ts";

/** What is wrong with the configuration, one line each: the name, what was given, what is allowed. */
export type ConfigurationErrors = { errors: string[] };

type Given = { value: unknown; from: string };

/** The endpoints that settings may name; those with `cache` have windows. */
export type KnownEndpoints = Readonly<Record<string, { cache?: unknown; routes?: readonly string[] }>>;

/** Reads the settings from the file named by `CONFIG` and from the environment, which wins. */
export const loadSettings = (
  environment: Record<string, string | undefined>,
  endpoints: KnownEndpoints,
): { settings: Settings } | ConfigurationErrors => {
  const file = readFile(environment["CONFIG"]);
  if ("errors" in file) return file;
  const given = new Map<string, Given>(
    Object.entries(file.values).map(([name, value]) => [name, { value, from: `in ${environment["CONFIG"]}` }]),
  );
  for (const [name, field] of Object.entries(settingsSchema.shape)) {
    const text = environment[name];
    if (text !== undefined && text !== "")
      given.set(name, { value: fromText(text, field), from: "in the environment" });
  }
  const parsed = settingsSchema.safeParse(Object.fromEntries([...given].map(([name, { value }]) => [name, value])));
  if (parsed.success) {
    const errors = [
      ...unknownEndpoints(parsed.data, endpoints),
      ...otherRoutes(parsed.data, endpoints),
      ...openToAll(parsed.data),
      ...tooPatient(parsed.data),
      ...tooLarge(parsed.data),
    ];
    return errors.length > 0 ? { errors } : { settings: parsed.data };
  }
  return { errors: [...new Set(parsed.error.issues.flatMap((issue) => told(issue, given)))] };
};

const unknownEndpoints = ({ CACHE_WINDOWS, STAGES, MODERN_ROUTES }: Settings, endpoints: KnownEndpoints): string[] => {
  const all = Object.keys(endpoints);
  const cached = all.filter((name) => endpoints[name]?.cache !== undefined);
  const unknown = (setting: string, given: object, known: string[]) =>
    Object.keys(given)
      .filter((name) => !known.includes(name))
      .map((name) => `${setting}: unknown endpoint ${JSON.stringify(name)} given; allowed are ${known.join(", ")}`);
  return [
    ...unknown("CACHE_WINDOWS", CACHE_WINDOWS, cached),
    ...unknown("STAGES", STAGES, all),
    ...unknown("MODERN_ROUTES", MODERN_ROUTES, all),
  ];
};

/** A route of modern's that could not be asked as the endpoint's first one: another method, other names in its path, or no path at all. */
const otherRoutes = ({ MODERN_ROUTES }: Settings, endpoints: KnownEndpoints): string[] =>
  Object.entries(MODERN_ROUTES).flatMap(([name, route]) => {
    if (becomesAnother({ path: route }))
      return [
        `MODERN_ROUTES: ${name} ${JSON.stringify(route)} given; allowed are segments other than . and .., which a server resolves`,
      ];
    const own = Object.hasOwn(endpoints, name) ? endpoints[name]?.routes?.[0] : undefined;
    return own === undefined || partsOf(own) === partsOf(route)
      ? []
      : [
          `MODERN_ROUTES: ${name} ${JSON.stringify(route)} given; allowed is the same method and the same names as in ${own}`,
        ];
  });

/** `GET /flow/exists/{name}/{external_version?}` -> `GET,external_version,name` */
const partsOf = (route: string): string =>
  [
    route.split(" ", 1)[0] as string,
    ...Array.from(route.matchAll(/\{(\w+)\??\}/g), ([, name]) => name as string).toSorted((a, b) => a.localeCompare(b)),
  ].join(",");

const tooPatient = ({ MODERN_URL, MODERN_TIMEOUT_MS, TOTAL_TIMEOUT_MS }: Settings): string[] =>
  MODERN_URL === undefined || MODERN_TIMEOUT_MS < TOTAL_TIMEOUT_MS
    ? []
    : [
        `MODERN_TIMEOUT_MS: ${MODERN_TIMEOUT_MS} given; allowed is less than TOTAL_TIMEOUT_MS (${TOTAL_TIMEOUT_MS}), so that legacy has time to answer instead`,
      ];

const tooLarge = ({ MAX_REPLY_BYTES, MAX_REPLIES_BYTES }: Settings): string[] =>
  MAX_REPLY_BYTES <= MAX_REPLIES_BYTES
    ? []
    : [
        `MAX_REPLIES_BYTES: ${MAX_REPLIES_BYTES} given; allowed is at least MAX_REPLY_BYTES (${MAX_REPLY_BYTES}), so that one answer alone has room`,
      ];

const openToAll = ({ ADMIN_HOST, ADMIN_TOKEN }: Settings): string[] =>
  ADMIN_TOKEN !== undefined || /^(127\.[\d.]+|localhost|::1|\[::1\])$/.test(ADMIN_HOST)
    ? []
    : [
        `ADMIN_HOST: ${JSON.stringify(ADMIN_HOST)} given without an ADMIN_TOKEN; allowed is a loopback address, or one with a token`,
      ];

const readFile = (path: string | undefined): { values: Record<string, unknown> } | ConfigurationErrors => {
  if (path === undefined || path === "") return { values: {} };
  let values: unknown;
  try {
    values = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    // Not the parser's message: it quotes the file, which may hold a key.
    const { code } = error as NodeJS.ErrnoException;
    return {
      errors: [
        `CONFIG: ${path} ${code === undefined ? "is not valid JSON" : `cannot be read (${code})`}; allowed is the path of a JSON file`,
      ],
    };
  }
  const isRecord = typeof values === "object" && values !== null && !Array.isArray(values);
  return isRecord
    ? { values: values as Record<string, unknown> }
    : { errors: [`CONFIG: ${path} has to hold a JSON object`] };
};

type Described = {
  type?: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  description?: string;
  items?: { type?: string };
};

const described = (field: z.ZodType): Described =>
  z.toJSONSchema(field, { io: "input", unrepresentable: "any" }) as Described;

const numeric = (text: string): unknown => (/^[+-]?\d+$/.test(text) ? Number(text) : text);

/** The environment has only text: numbers are digits, lists are JSON or parted by commas. */
const fromText = (text: string, field: z.ZodType): unknown => {
  const { type, items } = described(field);
  if (type === "integer") return numeric(text.trim());
  if (type === "boolean") return { true: true, false: false }[text.trim()] ?? text;
  if (type !== "array" && type !== "object") return text;
  if (type === "array" && !text.trim().startsWith("[")) {
    const entries = text.split(",").map((entry) => entry.trim());
    return items?.type === "integer" ? entries.map(numeric) : entries;
  }
  try {
    return JSON.parse(text);
  } catch {
    // Left as the text it is, which the schema refuses by name.
    return text;
  }
};

const told = (issue: z.core.$ZodIssue, given: ReadonlyMap<string, Given>): string[] => {
  if (issue.code === "unrecognized_keys" && issue.path.length === 0)
    return issue.keys.map((name) => `${name}: unknown setting ${given.get(name)?.from}; ${nearest(name)}`);
  const name = String(issue.path[0]);
  const { value, from } = given.get(name) ?? { value: undefined, from: "" };
  return placesOf(issue, value).map((place) => {
    const text = place.value === undefined ? "nothing" : JSON.stringify(place.value);
    const shown = secrets.has(name) ? HIDDEN : withoutUrlSecrets(text);
    return `${place.name}: ${shown} given ${from}; allowed is ${allowedFor(name, issue)}`;
  });
};

const allowedFor = (name: string, issue: z.core.$ZodIssue): string => {
  const { type, enum: values, minimum, maximum, description } = described(settingsSchema.shape[name as keyof Settings]);
  if (values) return `one of ${values.join(", ")}`;
  if (type === "boolean") return "true or false";
  if (type === "integer") return `an integer from ${minimum} to ${maximum}`;
  // Something wrong inside an object is about its setting as a whole.
  if (type === "object" && issue.code !== "custom") return description ?? "";
  if (type === "array" && ["invalid_type", "unrecognized_keys"].includes(issue.code)) return `a list: ${description}`;
  return issue.message;
};

const nearest = (name: string): string => {
  const names = Object.keys(settingsSchema.shape);
  const near = names.filter((known) => known.includes(name.toUpperCase()) || name.toUpperCase().includes(known));
  return `allowed are ${(near.length > 0 ? near : names).join(", ")}`;
};
