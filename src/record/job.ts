import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Catalogue } from "../gateway/gateway.ts";
import type { Arguments } from "./arguments.ts";
import type { Ask } from "./coverage.ts";
import type { Exchange } from "./exchange.ts";
import type { Recording, Replay } from "./recording.ts";
import type { Scrub } from "./scrub.ts";

/** What the command works with. */
export type RecordTools = {
  catalogue: Catalogue;
  /** The project's own fixtures. */
  folder: string;
  openReplay: (exchanges: Exchange[]) => Promise<Replay>;
  print: (line: string) => void;
  complain: (line: string) => void;
  /** How the file of `--corpus` is read, question by question; without it that option is refused. Rejects where it cannot be read. */
  readCorpus?: (file: string) => AsyncIterable<Ask>;
};

/** One run of the command. What it prints is scrubbed. */
export type Job = { args: Arguments; tools: RecordTools; scrub: Scrub; recording: Recording };

/** 0 done, 1 an answer did not fit its schema, 2 could not run. */
export type ExitCode = 0 | 1 | 2;

export const refused = ({ complain }: Pick<RecordTools, "complain">, errors: readonly string[]): 2 => {
  for (const error of errors) complain(error);
  return 2;
};

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
