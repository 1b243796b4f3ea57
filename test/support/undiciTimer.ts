import { createRequire } from "node:module";

type Timers = { setFastTimeout(run: () => void, ms: number): object; clearFastTimeout(timer: object): void };
const timers = createRequire(import.meta.url)("undici/lib/util/timers.js") as Timers;

// undici has one timer for all timeouts of a thread. If a test with fake timers made it, it would never fire again.
timers.clearFastTimeout(timers.setFastTimeout(() => undefined, 2000));
