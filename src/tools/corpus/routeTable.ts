import { type Pattern, patterns } from "../../serve/routes.ts";
import type { NamedEndpoint } from "./named.ts";

/** A path of the new interface: whose it is, and the texts in it or its pairs. */
export type Routed = {
  methods: Pattern<NamedEndpoint>["methods"];
  params: Record<string, string>;
  /** The segments of its pairs of filters, escaped, where it takes any. */
  pairs?: string[];
};

/** Finds whose a path below the prefix is, as the gateway's router does. */
export const routeTable = (endpoints: NamedEndpoint[]): ((path: string) => Routed | undefined) => {
  const table = patterns(endpoints).map((pattern) => ({ ...pattern, form: routePattern(pattern) }));
  return (path) => {
    for (const { form, methods, pairsBelow } of table) {
      const found = form.exec(path);
      if (!found) continue;
      if (pairsBelow === undefined) return { methods, params: { ...found.groups } };
      const pairs = path.slice(pairsBelow.length).replace(/\/$/, "").split("/").slice(1);
      return { methods, params: {}, pairs };
    }
    return undefined;
  };
};

/** `/datasets/:dataset_id` -> what it matches, with and without a slash at its end. */
const routePattern = ({ path, pairsBelow }: Pattern<NamedEndpoint>): RegExp => {
  const parts = (pairsBelow ?? path).split(/(:\w+(?:\{.*?\})?)/).map((part) => {
    const [, name, mayBeEmpty] = /^:(\w+)(\{.*\})?$/.exec(part) ?? [];
    return name === undefined ? RegExp.escape(part) : `(?<${name}>[^/]${mayBeEmpty ? "*" : "+"})`;
  });
  return new RegExp(`^${parts.join("")}${pairsBelow === undefined ? "/?$" : "(?:/|$)"}`);
};
