import type { Endpoint, Json, JsonObject } from "../../src/catalogue/index.ts";

/** A request of the new interface, below its prefix. */
export type CanonicalRequest = { method: "GET" | "POST"; path: string; body?: JsonObject };

/** `POST /datasets/list {"limit":5}` */
export const formatRequest = ({ method, path, body }: CanonicalRequest): string =>
  `${method} ${path}${body === undefined ? "" : ` ${JSON.stringify(body)}`}`;

/** True if a server would resolve the path to another path: it has `.`, `..` or an empty segment. */
export const becomesAnother = ({ path }: Pick<CanonicalRequest, "path">): boolean => /\/\.{1,2}(\/|$)|\/\//.test(path);

/** The request to the new implementation for an input. `route`: the operator's, by default the definition's. */
export const canonicalRequest = (
  { routes, bodyObjects = {}, modern }: Endpoint,
  input: Record<string, unknown>,
  route: string | undefined = modern?.route ?? routes[0],
): CanonicalRequest => {
  const [method, template] = (route ?? "").split(" ", 2) as ["GET" | "POST", string];
  const segment = (name: string) => encodeURIComponent(input[name] as string | number);
  const path = template.replaceAll(/\{(\w+)\??\}/g, (_, name: string) => segment(name));
  return method === "GET" ? { method, path } : { method, path, body: bodyOf(input, bodyObjects) };
};

const bodyOf = (input: Record<string, unknown>, bodyObjects: Record<string, string[]>): JsonObject => {
  const given = Object.entries(input).filter(([, value]) => value !== undefined) as [string, Json][];
  const objectOf = (name: string) => Object.keys(bodyObjects).find((object) => bodyObjects[object]?.includes(name));
  const body: JsonObject = {};
  for (const [name, value] of given) {
    const object = objectOf(name);
    if (object === undefined) body[name] = value;
    else body[object] = { ...(body[object] as JsonObject | undefined), [name]: value };
  }
  return body;
};

/** The path below the prefix that GETs an example; `undefined` if only a POST can request it. */
export const exampleTarget = ({ routes }: Endpoint, input: Record<string, Json>): string | undefined => {
  const templates = routes.flatMap((route) => (route.startsWith("GET ") ? [route.slice(4)] : []));
  const covers = (template: string) =>
    template.endsWith("/{...filters}") ||
    Object.keys(input).every((name) => new RegExp(`\\{${name}\\??\\}`).test(template));
  const template = templates.find(covers);
  const segment = (value: Json | undefined) =>
    encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value));
  return template
    ?.replace(
      "/{...filters}",
      Object.entries(input)
        .map(([name, value]) => `/${name}/${segment(value)}`)
        .join(""),
    )
    .replaceAll(/\{(\w+)\??\}/g, (_, name: string) => segment(input[name]));
};
