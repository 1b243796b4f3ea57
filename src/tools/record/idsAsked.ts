import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Ask } from "../corpus/ask.ts";
import { questionOf } from "./question.ts";

/** A question for each id from one to another, or why this endpoint cannot be asked by an id alone. */
export const idsAsked = (
  name: string,
  endpoint: Endpoint,
  { from, to, keyed }: { from: number; to: number; keyed: boolean },
): AsyncIterable<Ask> | { errors: string[] } => {
  const first = questionOf(endpoint, [String(from)]);
  return "errors" in first ? first : each(name, endpoint, from, to, keyed);
};

async function* each(endpoint: string, of: Endpoint, from: number, to: number, keyed: boolean): AsyncGenerator<Ask> {
  for (let id = from; id <= to; id++) {
    const question = questionOf(of, [String(id)]);
    if ("ask" in question) yield { endpoint, method: "GET", path: question.ask.path, keyed, shape: endpoint };
  }
}
