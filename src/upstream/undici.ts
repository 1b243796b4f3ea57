import { createRequire } from "node:module";
import type * as undici from "undici";

/**
 * The parts of undici that the gateway uses, each from its own file: the package's index also loads fetch, WebSocket, caches and
 * mocks, which takes longer than the rest of the start. A new version may move these files; any start then fails.
 */
const require = createRequire(import.meta.resolve("undici"));

/** One connection to an upstream. */
export const Client = require("./lib/dispatcher/client.js") as typeof undici.Client;
/** Connections to one upstream. */
export const Pool = require("./lib/dispatcher/pool.js") as typeof undici.Pool;
/** Makes the function that opens connections. */
export const buildConnector = require("./lib/core/connect.js") as typeof undici.buildConnector;
