import { parentPort, workerData } from "node:worker_threads";
import packageJson from "../../package.json" with { type: "json" };
import type { Endpoint } from "../../src/catalogue/index.ts";
import { openApiDocument } from "../../libraries/openapi/openApiDocument.ts";

/** The data that the thread is started with. `module`: the URL of the module with the definitions. */
export type OpenApiThreadData = { module: string; prefix: string };

const { module, prefix } = workerData as OpenApiThreadData;
const { endpoints } = (await import(module)) as { endpoints: Record<string, Endpoint> };
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(JSON.stringify(openApiDocument({ prefix, version: packageJson.version, endpoints })));
