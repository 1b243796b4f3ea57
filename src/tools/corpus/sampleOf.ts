import type { Ask } from "./ask.ts";
import { openStrata } from "./strata.ts";

/**
 * At most `limit` distinct asks that show as much as they can: of every endpoint, status, shape and with a key or none, the rarest first.
 * The same asks give the same sample. Without a limit all of them, as they come.
 */
export const sampleOf = async function* (
  asks: AsyncIterable<Ask> | Iterable<Ask>,
  limit?: number,
): AsyncGenerator<Ask> {
  if (limit === undefined) {
    yield* asks;
    return;
  }
  const strata = openStrata(limit);
  for await (const ask of asks) strata.add(ask);
  yield* strata.picked();
};
