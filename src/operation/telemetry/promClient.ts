import { createRequire } from "node:module";
import type * as promClient from "prom-client";

/**
 * prom-client's registry from its own file: the package's index also loads the metrics of the process, and with them the interface of
 * OpenTelemetry. A new version may move this file; any start then fails.
 */
const require = createRequire(import.meta.resolve("prom-client"));

/** All metrics of one gateway. */
export const Registry = require("./lib/registry.js") as typeof promClient.Registry;
