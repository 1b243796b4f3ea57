import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { CorpusRequest } from "../corpus/ask.ts";
import { readRequest } from "./question.ts";

/** A question for each id from one to another, or why this endpoint cannot be asked by an id alone. */
export const requestsById = (
  name: string,
  endpoint: Endpoint,
  { from, to, keyed }: { from: number; to: number; keyed: boolean },
): AsyncIterable<CorpusRequest> | { errors: string[] } => {
  const first = readRequest(endpoint, [String(from)]);
  return "errors" in first ? first : eachId(name, endpoint, from, to, keyed);
};

async function* eachId(
  endpoint: string,
  of: Endpoint,
  from: number,
  to: number,
  keyed: boolean,
): AsyncGenerator<CorpusRequest> {
  for (let id = from; id <= to; id++) {
    const question = readRequest(of, [String(id)]);
    if ("ask" in question) yield { endpoint, method: "GET", path: question.ask.path, keyed, shape: endpoint };
  }
}
