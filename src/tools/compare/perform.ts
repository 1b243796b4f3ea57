import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import type { Catalogue } from "../../serve/gateway.ts";
import { openQuietGateway } from "../quietGateway.ts";
import { observeFields } from "../../compare/fields.ts";
import { openLedger } from "../../compare/ledger.ts";
import type { Report } from "../../compare/report.ts";
import { reportOf } from "../../compare/tally.ts";
import { openTally } from "../../compare/tally.ts";
import { openAsModern, openCandidateSide, USER_AGENT } from "./candidateSide.ts";
import { type ComparedRequest, compareOne } from "./compareOne.ts";
import { openDone, run } from "./run.ts";
import { openNotebook } from "./notebook.ts";
import type { CompareOptions } from "./options.ts";
import type { PreparedRun } from "./prepare.ts";
import { openProgress } from "./progress.ts";
import { requestsOf } from "./requests.ts";

/** Milliseconds until a mismatch is asked again, between two looks at how far it is, and between two notes of it. */
const SETTLE_MS = 1000;
const PROGRESS_MS = 100;
const NOTE_MS = 5000;

/** Where a gateway of one's own listens, for the commands that reproduce a difference. */
const DEFAULT_GATEWAY = "http://127.0.0.1:8000/v1";

const logLine = (line: string) => void process.stderr.write(`${line}\n`);

/**
 * Compares all that the options name, and tells on the standard error how it goes. Where `signal` aborts it notes how far it has come and
 * gives that number; else the report. Throws where the corpus cannot be read.
 */
export const performRun = async (
  options: CompareOptions,
  prepared: PreparedRun & { legacyUrl: string },
  catalogue: Catalogue,
  signal: AbortSignal,
): Promise<{ report: Report; clear: () => void } | { interruptedAfter: number }> => {
  const { settings, key, rate, concurrency, legacyUrl, scrub } = prepared;
  const { PREFIXES: prefixes, LEGACY_PATH: legacyPath } = settings;
  const questions = await requestsOf(options, catalogue.endpoints, { prefixes, legacyPath });
  const today = new Date().toISOString().slice(0, 10);
  const ledger = openLedger(prepared.entries, today);
  for (const { id, until } of ledger.expired(today))
    logLine(`--expected: the entry ${id} ended on ${until} and allows nothing any more`);

  const notebook = openNotebook(options.out, prepared.fingerprint, scrub);
  const left = options.fresh ? undefined : notebook.read();
  const tally = openTally(left?.tally);
  const done = openDone(left?.done);
  if (left) logLine(`going on after ${done.count()} questions of an interrupted run (--fresh begins anew)`);
  const unwritable = new AbortController();
  const note = () => notebook.write({ tally: tally.state, done: done.state() });

  // What cannot be written is found out before anybody is asked.
  note();

  const legacy = openQuietGateway({ ...settings, LEGACY_URL: legacyUrl }, catalogue, USER_AGENT);
  const candidate =
    options.candidate === undefined
      ? undefined
      : openCandidateSide(options.candidate, {
          connections: concurrency,
          waiting: concurrency,
          connectTimeout: settings.CONNECT_TIMEOUT_MS,
          headersTimeout: settings.HEADERS_TIMEOUT_MS,
          bodyTimeout: settings.BODY_TIMEOUT_MS,
          totalTimeout: settings.TOTAL_TIMEOUT_MS,
          maxReply: settings.MAX_REPLY_BYTES,
          keyIn: options.modern ? "query" : "header",
        });
  const addresses = {
    legacy: legacyUrl + legacyPath,
    candidate: options.candidate ?? DEFAULT_GATEWAY,
    keyName: options.keyName,
  };
  const sides = {
    catalogue,
    legacy,
    ledger,
    addresses,
    key,
    ...(candidate ? { candidate } : {}),
    ...(options.modern ? { asModern: openAsModern(catalogue.endpoints, settings.MODERN_ROUTES) } : {}),
  };
  const progress = openProgress(process.stderr, questions.total, done.count());
  const timers = [
    setInterval(() => progress.update(done.count(), tally.unexplained()), PROGRESS_MS),
    setInterval(() => {
      try {
        note();
      } catch (error) {
        // Told where the run is waited for.
        unwritable.abort(error);
      }
    }, NOTE_MS),
  ];
  const ending = AbortSignal.any([signal, unwritable.signal]);
  try {
    const running = {
      requests: questions.requests,
      compare: async (request: CorpusRequest, again: boolean) => compareOne(sides, request, again),
      count(request: CorpusRequest, { outcome, document }: ComparedRequest) {
        const endpoint = catalogue.endpoints[request.endpoint];
        if (document && endpoint) observeFields(endpoint.output, document, tally.fieldsOf(request.endpoint));
        tally.add(outcome);
      },
      done,
      settings: { rate, concurrency, settle: SETTLE_MS },
    };
    await run(running, ending);
    unwritable.signal.throwIfAborted();
  } finally {
    for (const timer of timers) clearInterval(timer);
    progress.end();
    await Promise.all([legacy.close(), candidate?.close()]);
  }
  if (signal.aborted) {
    note();
    return { interruptedAfter: done.count() };
  }
  const report = reportOf(tally.state, {
    made: new Date().toISOString(),
    sides: { legacy: addresses.legacy, ...(options.candidate === undefined ? {} : { candidate: options.candidate }) },
    skipped: questions.skipped,
    endpoints: catalogue.endpoints,
  });
  // Only when the report is written is nothing lost without the notes.
  return { report, clear: () => notebook.clear() };
};
