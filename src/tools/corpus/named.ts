import type { Endpoint } from "../../endpoint/endpoint.ts";

/** An endpoint with its one name. */
export type NamedEndpoint = Endpoint & { name: string };
