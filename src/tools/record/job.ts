import type { Secrets } from "../../scrub/secrets.ts";
import type { Catalogue } from "../../serve/catalogue.ts";
import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import type { RecordArguments } from "./arguments.ts";
import type { Exchange } from "./exchange.ts";
import type { Recording, Replay } from "./recording.ts";

/** The files, output and servers that the command uses. */
export type RecordTools = {
  catalogue: Catalogue;
  /** The folder of the project's own fixtures. */
  folder: string;
  openReplay: (exchanges: Exchange[]) => Promise<Replay>;
  print: (line: string) => void;
  complain: (line: string) => void;
  /** Reads the file of `--corpus`, request by request. Throws where it cannot be read. */
  readCorpus: (file: string) => AsyncIterable<CorpusRequest>;
};

/** One run of the command; `tools` prints without secrets. */
export type RecordJob = { args: RecordArguments; tools: RecordTools; scrub: Secrets; recording: Recording };

/** 0 done, 1 an answer did not fit its schema, 2 could not run. */
export type ExitCode = 0 | 1 | 2;

/** Prints errors; returns the exit code of a command that could not run. */
export const refused = ({ complain }: Pick<RecordTools, "complain">, errors: readonly string[]): 2 => {
  for (const error of errors) complain(error);
  return 2;
};
