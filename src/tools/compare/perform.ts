import { observeFields } from "../../compare/fields.ts";
import { openLedger } from "../../compare/ledger.ts";
import type { Report } from "../../compare/report.ts";
import { openTally, reportOf } from "../../compare/tally.ts";
import type { Catalogue } from "../../serve/catalogue.ts";
import { openQuietGateway } from "../quietGateway.ts";
import { openAsModern, openCandidateSide, USER_AGENT } from "./candidateSide.ts";
import { type ComparedSides, compareOne } from "./compareOne.ts";
import { openNotebook } from "./notebook.ts";
import { readCertificates } from "../../settings/certificates.ts";
import type { CompareOptions } from "./options.ts";
import type { PreparedRun } from "./prepare.ts";
import { openProgress } from "./progress.ts";
import { requestsOf } from "./requests.ts";
import { openDone, run } from "./run.ts";

/** Milliseconds until a mismatch is checked again, between two updates of the progress line, and between two notes of the state. */
const SETTLE_MS = 1000;
const PROGRESS_MS = 100;
const NOTE_MS = 5000;

/** A gateway started by hand, for the commands that reproduce a difference. */
const DEFAULT_GATEWAY = "http://127.0.0.1:8000/v1";

const logLine = (line: string) => void process.stderr.write(`${line}\n`);

type Prepared = PreparedRun & { legacyUrl: string };

/**
 * Compares all that the options name, and writes its progress to the standard error. When `signal` aborts, it notes the state and gives the
 * number of compared requests; else it gives the report. Rejects where the corpus cannot be read or the state cannot be written.
 */
export const performRun = async (
  options: CompareOptions,
  prepared: Prepared,
  catalogue: Catalogue,
  signal: AbortSignal,
): Promise<{ report: Report; clear: () => void } | { interruptedAfter: number }> => {
  const { settings, rate, concurrency, scrub } = prepared;
  const corpus = await requestsOf(options, catalogue.endpoints, {
    prefixes: settings.PREFIXES,
    legacyPath: settings.LEGACY_PATH,
  });
  const notebook = openNotebook(options.out, prepared.fingerprint, scrub);
  const left = options.fresh ? undefined : notebook.read();
  const tally = openTally(left?.tally);
  const done = openDone(left?.done);
  const note = () => notebook.write({ tally: tally.state, done: done.state() });
  const { sides, close } = await openSides(options, prepared, catalogue);
  if (left) logLine(`going on after ${done.count()} questions of an interrupted run (--fresh begins anew)`);

  const progress = openProgress(process.stderr, corpus.total, done.count());
  const unwritable = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  try {
    // An output that cannot be written is found before the first request is sent.
    note();
    timers.push(
      setInterval(() => progress.update(done.count(), tally.unexplained()), PROGRESS_MS),
      setInterval(() => {
        try {
          note();
        } catch (error) {
          unwritable.abort(error);
        }
      }, NOTE_MS),
    );
    await run(
      {
        requests: corpus.requests,
        compare: (request, again) => compareOne(sides, request, again),
        count({ endpoint: name }, { outcome, document }) {
          const endpoint = catalogue.endpoints[name];
          if (document && endpoint) observeFields(endpoint.output, document, tally.fieldsOf(name));
          tally.add(outcome);
        },
        done,
        settings: { rate, concurrency, settle: SETTLE_MS },
      },
      AbortSignal.any([signal, unwritable.signal]),
    );
    unwritable.signal.throwIfAborted();
  } finally {
    for (const timer of timers) clearInterval(timer);
    progress.end();
    await close();
  }
  if (signal.aborted) {
    note();
    return { interruptedAfter: done.count() };
  }
  const report = reportOf(tally.state, {
    made: new Date().toISOString(),
    sides: {
      legacy: sides.addresses.legacy,
      ...(options.candidate === undefined ? {} : { candidate: options.candidate }),
    },
    skipped: corpus.skipped,
    endpoints: catalogue.endpoints,
  });
  // The notes are deleted only after the report is written.
  return { report, clear: () => notebook.clear() };
};

const openSides = async (
  options: CompareOptions,
  { settings, entries, key, concurrency, legacyUrl }: Prepared,
  catalogue: Catalogue,
): Promise<{ sides: ComparedSides; close: () => Promise<unknown> }> => {
  const today = new Date().toISOString().slice(0, 10);
  const ledger = openLedger(entries, today);
  for (const { id, until } of ledger.expired(today))
    logLine(`--expected: the entry ${id} ended on ${until} and allows nothing any more`);
  const legacy = await openQuietGateway({ ...settings, LEGACY_URL: legacyUrl }, catalogue, USER_AGENT);
  const candidate =
    options.candidate === undefined
      ? undefined
      : openCandidateSide(options.candidate, {
          connections: concurrency,
          waiting: concurrency,
          ...readCertificates("MODERN_CA", settings.MODERN_CA),
          connectTimeout: settings.CONNECT_TIMEOUT_MS,
          headersTimeout: settings.HEADERS_TIMEOUT_MS,
          bodyTimeout: settings.BODY_TIMEOUT_MS,
          totalTimeout: settings.TOTAL_TIMEOUT_MS,
          maxReply: settings.MAX_REPLY_BYTES,
          keyIn: options.modern ? "query" : "header",
        });
  const addresses = {
    legacy: legacyUrl + settings.LEGACY_PATH,
    candidate: options.candidate ?? DEFAULT_GATEWAY,
    keyName: options.keyName,
  };
  return {
    sides: {
      catalogue,
      legacy,
      ledger,
      addresses,
      key,
      ...(candidate ? { candidate } : {}),
      ...(options.modern ? { asModern: openAsModern(catalogue.endpoints, settings.MODERN_ROUTES) } : {}),
    },
    close: () => Promise.all([legacy.close(), candidate?.close()]),
  };
};
