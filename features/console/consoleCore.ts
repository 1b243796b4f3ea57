import type { Core, StoredAnswers } from "../../src/gateway/index.ts";
import type { WhenOff } from "../../src/operation/index.ts";

/** The core, the stored answers, and the words on features that are not loaded: the console shows them. */
export type ConsoleCore = Core & { stored: StoredAnswers; off: readonly WhenOff[] };
