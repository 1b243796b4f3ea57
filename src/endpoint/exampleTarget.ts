import type { Json } from "../rules/rule.ts";
import type { Endpoint } from "./endpoint.ts";

/** The path below the prefix that GETs an example; `undefined` where only a POST can ask for it. */
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
