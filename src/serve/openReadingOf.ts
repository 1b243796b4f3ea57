import { availableParallelism } from "node:os";
import type { Settings } from "../settings/settings.ts";
import type { Endpoint, Knowledge } from "../endpoint/endpoint.ts";
import type { Meter } from "../telemetry/meter.ts";
import type { Observer } from "../telemetry/observer.ts";
import { readableOf } from "../reading/readAnswer.ts";
import { LARGE, openReader, type Reader, type ReaderSettings } from "../reading/reader.ts";

type Parts = {
  meter: Meter;
  observer: Observer;
  reading: Partial<Pick<ReaderSettings, "large" | "idle" | "queue" | "module">>;
};

/** Large answers that may wait to be read, beside the bound on their bytes. */
const MAX_JOBS = 500;
/** Milliseconds without a large answer after which a thread ends, and gives its memory back. */
const IDLE = 60_000;

/** What reads answers, as the settings want it, and counted. */
export const openReadingOf = (
  settings: Settings,
  { endpoints, module }: { endpoints: Record<string, Endpoint>; module?: string },
  knowledge: Knowledge,
  { meter, observer, reading }: Parts,
): Reader => {
  const reader = openReader({
    endpoints: new Map(Object.entries(endpoints).map(([name, endpoint]) => [name, readableOf(name, endpoint)])),
    knowledge,
    module,
    large: LARGE,
    threads: Math.min(settings.READER_THREADS, availableParallelism()),
    heap: settings.READER_HEAP_MB,
    timeout: settings.READER_TIMEOUT_MS,
    idle: IDLE,
    queue: { jobs: MAX_JOBS, bytes: settings.READER_QUEUE_BYTES },
    onFailed: (endpoint, why) => observer.event("large_answer_failed", { endpoint, why }),
    ...reading,
  });
  meter.gauge("reader_threads", "Threads that read large answers.", () => reader.size().threads);
  meter.gauge("reader_waiting", "Large answers and bodies that wait to be read.", () => reader.size().jobs);
  meter.gauge("reader_waiting_bytes", "Bytes of these.", () => reader.size().bytes);
  return reader;
};
