import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { CorpusRequest } from "./ask.ts";
import { requestFor } from "./askOf.ts";

/** Every example of every endpoint that writes nothing. */
export const exampleRequests = (endpoints: Record<string, Endpoint>): CorpusRequest[] =>
  Object.entries(endpoints).flatMap(([name, endpoint]) =>
    Object.values(endpoint.examples).flatMap((input) => requestFor(name, endpoint, input) ?? []),
  );
