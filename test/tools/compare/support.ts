import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "vitest";
import type { Report } from "../../../src/compare/report.ts";
import type { JsonObject } from "../../../src/rules/rule.ts";
import { readCompareOptions } from "../../../src/tools/compare/options.ts";
import { performRun } from "../../../src/tools/compare/perform.ts";
import { prepareRun } from "../../../src/tools/compare/prepare.ts";
import { startSampleLegacy } from "../../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { catalogue } from "../../../transforms/catalogue.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

/** The sample legacy and servers that a file's tests compare with it; all are closed after its last test. */
export const openServers = () => {
  const closing: (() => unknown)[] = [];

  const serve = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener);
    closing.push(
      () => server.close(),
      () => server.closeAllConnections(),
    );
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  let legacy = "";
  /** Serves the new interface over the sample, and changes its documents as a test wants. */
  const candidate = async (change: (document: JsonObject, path: string) => unknown): Promise<string> => {
    const gateway = await gatewayFor(legacy, { CACHE_BYTES: "0" });
    closing.push(() => gateway.close());
    return serve((incoming, response) => {
      void (async () => {
        const path = incoming.url ?? "";
        const answer = await gateway.app.request(`/v1${path}`, { method: incoming.method ?? "GET" });
        const body = (await answer.json()) as JsonObject;
        const changed = answer.status === 200 ? (change(body, path) ?? body) : body;
        response.writeHead(answer.status, { "Content-Type": "application/json" }).end(JSON.stringify(changed));
      })();
    });
  };
  /** The options that hold a candidate against the sample, over some datasets. */
  const datasets = (url: string, ids: string): string[] =>
    `--legacy ${legacy} --candidate ${url} --ids ${ids} --endpoint getDataset`.split(" ");

  beforeAll(async () => {
    const sample = await startSampleLegacy();
    closing.push(() => sample.close());
    legacy = sample.url;
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });
  return { serve, candidate, datasets, closing, legacy: () => legacy };
};

/** What is wrong with these options, or with what they name; the program prints it and exits with 2. */
export const errorsOf = (args: string[]): string => {
  const options = readCompareOptions(args, Object.keys(catalogue.endpoints));
  if (options === "help") return "help";
  const prepared = "errors" in options ? options : prepareRun(options, {}, catalogue);
  return "errors" in prepared ? prepared.errors.join("\n") : "nothing";
};

/** What the program reports with these arguments, without a process of its own; it would exit with 1 where a difference is unexplained. */
export const reportOf = async (args: string[], environment: Record<string, string> = {}): Promise<Report> => {
  const out = temporaryFolder();
  const options = readCompareOptions(["--out", out, ...args], Object.keys(catalogue.endpoints));
  if (options === "help" || "errors" in options) throw new Error(JSON.stringify(options));
  const prepared = prepareRun(options, environment, catalogue);
  if ("errors" in prepared) throw new Error(prepared.errors.join("\n"));
  const { LEGACY_URL: legacyUrl } = prepared.settings;
  if (legacyUrl === undefined) throw new Error("no --legacy");
  const performed = await performRun(options, { ...prepared, legacyUrl }, catalogue, new AbortController().signal);
  if ("interruptedAfter" in performed) throw new Error("interrupted");
  return performed.report;
};
