import { open } from "node:fs/promises";
import type { CorpusRequest, SkipReason } from "./corpusRequest.ts";
import type { MapTraffic } from "./mapTraffic.ts";
import { trafficOfLine } from "./trafficLine.ts";

/** The most characters of a line. */
const MAX_LINE = 1_048_576;

/**
 * The requests in a file of traffic: an access log, a log in JSON lines or a list of URLs. They are read while they are
 * taken; `skipped` counts the lines that are not sent.
 *
 * @throws An Error that names the file, if it cannot be read.
 */
export const readCorpus = async function* (
  path: string,
  mapTraffic: MapTraffic,
  skipped: Partial<Record<SkipReason, number>> = {},
): AsyncGenerator<CorpusRequest> {
  await using file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${path} cannot be read: ${error.code}`, { cause: error });
  });
  for await (const line of file.readLines()) {
    const traffic = line.length > MAX_LINE ? undefined : trafficOfLine(line);
    if (traffic === "nothing") continue;
    const mapped = traffic
      ? mapTraffic(traffic)
      : { skipped: line.length > MAX_LINE ? ("too long" as const) : ("not understood" as const) };
    if ("request" in mapped) yield mapped.request;
    else skipped[mapped.skipped] = (skipped[mapped.skipped] ?? 0) + 1;
  }
};
