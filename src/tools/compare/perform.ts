import type { Ask } from "../corpus/ask.ts";
import type { Catalogue } from "../../serve/catalogue.ts";
import { openObserver } from "../../telemetry/observer.ts";
import { observeFields } from "../../compare/fields.ts";
import { openLedger } from "../../compare/ledger.ts";
import type { Report } from "../../compare/report.ts";
import { reportOf } from "../../compare/reportOf.ts";
import { openTally } from "../../compare/tally.ts";
import { openAsModern } from "./asModern.ts";
import { openCandidateSide } from "./candidateSide.ts";
import { type Compared, compareOne } from "./compareOne.ts";
import { openDone } from "./done.ts";
import { openNotebook } from "./interrupted.ts";
import { openLegacySide } from "./legacySide.ts";
import type { Options } from "./options.ts";
import type { Prepared } from "./prepare.ts";
import { openProgress } from "./progress.ts";
import { questionsOf } from "./questions.ts";
import { run } from "./run.ts";

/** Milliseconds until a mismatch is asked again, between two looks at how far it is, and between two notes of it. */
const SETTLE = 1000;
const LOOK_EVERY = 100;
const NOTE_EVERY = 5000;

/** Where a gateway of one's own listens, for the commands that reproduce a difference. */
const USUAL_GATEWAY = "http://127.0.0.1:8000/v1";

const tell = (line: string) => void process.stderr.write(`${line}\n`);

/**
 * Compares all that the options name, and tells on the standard error how it goes. Where `signal` aborts it notes how far it has come and
 * gives that number; else the report. Throws where the corpus cannot be read.
 */
export const perform = async (
  options: Options,
  prepared: Prepared & { legacyUrl: string },
  catalogue: Catalogue,
  signal: AbortSignal,
): Promise<{ report: Report; clear: () => void } | { interruptedAfter: number }> => {
  const { settings, key, rate, concurrency, legacyUrl, scrub } = prepared;
  const { PREFIXES: prefixes, LEGACY_PATH: legacyPath } = settings;
  const questions = await questionsOf(options, catalogue.endpoints, { prefixes, legacyPath });
  const today = new Date().toISOString().slice(0, 10);
  const ledger = openLedger(prepared.entries, today);
  for (const { id, until } of ledger.expired(today))
    tell(`--expected: the entry ${id} ended on ${until} and allows nothing any more`);

  const notebook = openNotebook(options.out, prepared.fingerprint, scrub);
  const left = options.fresh ? undefined : notebook.read();
  const tally = openTally(left?.tally);
  const done = openDone(left?.done);
  if (left) tell(`going on after ${done.count()} questions of an interrupted run (--fresh begins anew)`);
  const unwritable = new AbortController();
  const note = () => notebook.write({ tally: tally.state, done: done.state() });

  // What cannot be written is found out before anybody is asked.
  note();

  const legacy = await openLegacySide({ ...settings, LEGACY_URL: legacyUrl }, catalogue, openObserver("silent"));
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
    candidate: options.candidate ?? USUAL_GATEWAY,
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
    setInterval(() => progress.told(done.count(), tally.unexplained()), LOOK_EVERY),
    setInterval(() => {
      try {
        note();
      } catch (error) {
        // Told where the run is waited for.
        unwritable.abort(error);
      }
    }, NOTE_EVERY),
  ];
  const ending = AbortSignal.any([signal, unwritable.signal]);
  try {
    const running = {
      asks: questions.asks,
      compare: async (ask: Ask, again: boolean) => compareOne(sides, ask, again),
      count(ask: Ask, { outcome, document }: Compared) {
        const endpoint = catalogue.endpoints[ask.endpoint];
        if (document && endpoint) observeFields(endpoint.output, document, tally.fieldsOf(ask.endpoint));
        tally.add(outcome);
      },
      done,
      settings: { rate, concurrency, settle: SETTLE },
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
