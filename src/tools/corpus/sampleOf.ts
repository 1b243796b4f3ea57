import type { CorpusRequest } from "./ask.ts";
import { openStrata } from "./strata.ts";

/**
 * At most `limit` distinct asks that show as much as they can: of every endpoint, status, shape and with a key or none, the rarest first.
 * The same asks give the same sample. Without a limit all of them, as they come.
 */
export const sampleRequests = async function* (
  requests: AsyncIterable<CorpusRequest> | Iterable<CorpusRequest>,
  limit?: number,
): AsyncGenerator<CorpusRequest> {
  if (limit === undefined) {
    yield* requests;
    return;
  }
  const strata = openStrata(limit);
  for await (const ask of requests) strata.add(ask);
  yield* strata.picked();
};
