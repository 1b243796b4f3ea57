import { catalogue } from "../../transforms/catalogue.ts";
import { openObserver } from "../observe.ts";
import { openCandidateSide } from "./command/candidateSide.ts";
import { openDone } from "./command/done.ts";
import { writeReports } from "./command/files.ts";
import { openNotebook } from "./command/interrupted.ts";
import { openLegacySide } from "./command/legacySide.ts";
import { type Options, readOptions, usage } from "./command/options.ts";
import { prepare } from "./command/prepare.ts";
import { openProgress } from "./command/progress.ts";
import { questionsOf } from "./command/questions.ts";
import { run } from "./command/run.ts";
import { openLedger } from "./ledger.ts";
import { terminalReport } from "./report/terminalReport.ts";
import { reportOf } from "./reportOf.ts";
import { openTally } from "./tally.ts";

const fail = (lines: string[]) => {
  for (const line of lines) console.error(line);
  process.exitCode = 2;
};

/** Milliseconds until a mismatch is asked again, and between two notes of how far the run has come. */
const SETTLE = 1000;
const NOTE_EVERY = 5000;

const compare = async (options: Options): Promise<void> => {
  const prepared = prepare(options, process.env, catalogue);
  if ("errors" in prepared) return fail(prepared.errors);
  const { settings, key, entries } = prepared;
  const sample = settings.LEGACY_URL === undefined ? await startSample() : undefined;
  const legacyUrl = settings.LEGACY_URL ?? (sample?.url as string);
  const scrub = (text: string) => (key === undefined ? text : text.replaceAll(key, "(key)"));

  const { questions, error } = await questionsOf(options, catalogue.endpoints, {
    prefixes: settings.PREFIXES,
    legacyPath: settings.LEGACY_PATH,
  }).then(
    (questions) => ({ questions, error: undefined }),
    (error: Error) => ({ questions: undefined, error }),
  );
  if (questions === undefined) {
    await sample?.close();
    return fail([`--corpus: ${error.message}`]);
  }

  const { concurrency } = prepared;
  const connections = {
    connections: concurrency,
    waiting: concurrency,
    connectTimeout: settings.CONNECT_TIMEOUT_MS,
    headersTimeout: settings.HEADERS_TIMEOUT_MS,
    bodyTimeout: settings.BODY_TIMEOUT_MS,
  };
  const legacy = openLegacySide({ ...settings, LEGACY_URL: legacyUrl }, catalogue, openObserver("silent"));
  const candidate =
    options.candidate === undefined
      ? undefined
      : openCandidateSide(options.candidate, {
          ...connections,
          totalTimeout: settings.TOTAL_TIMEOUT_MS,
          maxReply: settings.MAX_REPLY_BYTES,
        });
  const today = new Date().toISOString().slice(0, 10);
  const ledger = openLedger(entries, today);
  for (const { id, until } of ledger.expired(today))
    console.error(`--expected: the entry ${id} ended on ${until} and allows nothing any more`);

  const notebook = openNotebook(options.out, prepared.fingerprint, scrub);
  const left = options.fresh ? undefined : notebook.read();
  const tally = openTally(left?.tally);
  const done = openDone(left?.done);
  if (left) console.error(`going on after ${done.count()} questions of an interrupted run (--fresh begins anew)`);

  const interrupt = new AbortController();
  const onSignal = () => (interrupt.signal.aborted ? process.exit(2) : interrupt.abort());
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, onSignal);
  const progress = openProgress(process.stderr, questions.total, done.count());
  const unexplained = () => Object.values(tally.state.summaries).reduce((sum, one) => sum + one.unexplained, 0);
  const telling = setInterval(() => progress.told(done.count(), unexplained()), 100);
  const note = () => notebook.write({ tally: tally.state, done: done.state() });
  const noting = setInterval(note, NOTE_EVERY);
  const addresses = {
    legacy: legacyUrl + settings.LEGACY_PATH,
    candidate: options.candidate ?? "http://127.0.0.1:8000/v1",
    keyName: options.keyName,
  };
  try {
    const sides = { catalogue, legacy, ledger, addresses, key, ...(candidate ? { candidate } : {}) };
    await run(
      questions.asks,
      sides,
      tally,
      done,
      { rate: prepared.rate, concurrency, settle: SETTLE },
      interrupt.signal,
    );
  } finally {
    clearInterval(telling);
    clearInterval(noting);
    progress.end();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, onSignal);
    await Promise.all([legacy.close(), candidate?.close(), sample?.close()]);
  }
  if (interrupt.signal.aborted) {
    note();
    return fail([`interrupted after ${done.count()} questions; the same command goes on from there`]);
  }
  notebook.clear();

  const report = reportOf(tally.state, {
    made: new Date().toISOString(),
    sides: { legacy: addresses.legacy, ...(options.candidate === undefined ? {} : { candidate: options.candidate }) },
    skipped: questions.skipped,
    endpoints: catalogue.endpoints,
  });
  const { columns = 100, isTTY = false } = process.stdout;
  for (const line of terminalReport(report, columns, isTTY && !process.env["NO_COLOR"])) console.log(scrub(line));
  for (const path of writeReports(report, options.out, scrub)) console.log(path);
  if (report.summary.compared === 0) return fail(["nothing could be compared"]);
  process.exitCode = report.summary.unexplained > 0 ? 1 : 0;
};

const startSample = async () => {
  const { startSampleLegacy } = await import("../../fixtures/sampleLegacy/startSampleLegacy.ts");
  return startSampleLegacy();
};

const options = readOptions(process.argv.slice(2), Object.keys(catalogue.endpoints));
if (options === "help") console.log(usage);
else if ("errors" in options) fail([...options.errors, "npm run compare -- --help tells all options"]);
else
  await compare(options).catch((error: Error) => {
    console.error(error);
    process.exitCode = 2;
  });
