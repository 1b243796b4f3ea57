import { createRequire } from "node:module";
import type * as promClient from "prom-client";

/**
 * The parts of prom-client that count, each from its own file: the package's index also loads the metrics of the process, and with
 * them the interface of OpenTelemetry. A new version may move these files; any start then fails.
 */
const require = createRequire(import.meta.resolve("prom-client"));

/** A number that only grows. */
export const Counter = require("./lib/counter.js") as typeof promClient.Counter;
/** A number that goes up and down. */
export const Gauge = require("./lib/gauge.js") as typeof promClient.Gauge;
/** Counts by size. */
export const Histogram = require("./lib/histogram.js") as typeof promClient.Histogram;
/** All metrics of one gateway. */
export const Registry = require("./lib/registry.js") as typeof promClient.Registry;
