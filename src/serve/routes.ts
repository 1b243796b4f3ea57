import type { Endpoint } from "../endpoint/endpoint.ts";
import type { PreparedEndpoint } from "./prepared.ts";

/** One path of the interface and who answers which method there. */
export type Pattern<E = PreparedEndpoint> = {
  /** As hono writes it, below the prefix: `/datasets/:dataset_id`. */
  path: string;
  /** The path before its pairs of filters, where it takes any. */
  pairsBelow?: string;
  methods: Map<"GET" | "POST", E>;
};

/** Every path of every endpoint, fixed ones first: `/datasets/list` is no id. */
export const patterns = <E extends Pick<Endpoint, "routes">>(endpoints: readonly E[]): Pattern<E>[] => {
  const all = new Map<string, Pattern<E>>();
  for (const endpoint of endpoints)
    for (const route of endpoint.routes) {
      const [method, template] = route.split(" ", 2) as ["GET" | "POST", string];
      const pairsBelow = template.endsWith("/{...filters}") ? template.slice(0, -"/{...filters}".length) : undefined;
      const path =
        pairsBelow === undefined
          ? template.replaceAll(/\{(\w+)\??\}/g, (segment, name: string) =>
              segment.endsWith("?}") ? `:${name}{[^/]*}` : `:${name}`,
            )
          : `${pairsBelow}/*`;
      const pattern: Pattern<E> = all.get(path) ?? {
        path,
        methods: new Map(),
        ...(pairsBelow === undefined ? {} : { pairsBelow }),
      };
      all.set(path, { ...pattern, methods: pattern.methods.set(method, endpoint) });
    }
  const isFixed = ({ path }: Pattern<E>) => !path.includes(":") && !path.includes("*");
  return [...all.values()].toSorted((a, b) => Number(isFixed(b)) - Number(isFixed(a)));
};

/** The methods a path answers, for `Allow`. */
export const allowed = ({ methods }: Pattern): string =>
  [...methods.keys()]
    .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
    .concat("OPTIONS")
    .join(", ");
