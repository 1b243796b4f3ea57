import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { RecordTools } from "./job.ts";

/** An endpoint that only reads: recording must not write. */
export const readingEndpoint = (
  name: string,
  { catalogue }: Pick<RecordTools, "catalogue">,
): { endpoint: Endpoint } | { errors: string[] } => {
  const { endpoints } = catalogue;
  const reading = Object.keys(endpoints).filter((one) => endpoints[one]?.writes === undefined);
  const endpoint = Object.hasOwn(endpoints, name) ? endpoints[name] : undefined;
  const why = endpoint === undefined ? "unknown endpoint" : endpoint.writes && "it writes, which recording must not";
  return endpoint === undefined || why !== undefined
    ? { errors: [`${name}: ${why}; allowed are ${reading.join(", ")}`] }
    : { endpoint };
};
