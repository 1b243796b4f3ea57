import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Ask } from "./ask.ts";
import { askOf } from "./askOf.ts";

/** Every example of every endpoint that writes nothing. */
export const exampleAsks = (endpoints: Record<string, Endpoint>): Ask[] =>
  Object.entries(endpoints).flatMap(([name, endpoint]) =>
    Object.values(endpoint.examples).flatMap((input) => askOf(name, endpoint, input) ?? []),
  );
