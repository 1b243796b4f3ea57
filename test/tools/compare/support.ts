import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { Report } from "../../../tools/compare/report/report.ts";
import { listen } from "../../../src/operation/network/listen.ts";
import type { JsonObject } from "../../../src/catalogue/rules/rule.ts";
import { compareCommand } from "../../../tools/compare/command.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { runTool } from "../runTool.ts";

/** The sample legacy and servers that a file's tests compare with it; all are closed after its last test. */
export const openServers = () => {
  const closing: (() => unknown)[] = [];

  const serve = async (listener: RequestListener): Promise<string> => {
    const { url, close } = await listen(createServer(listener));
    closing.push(close);
    return url;
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
        if (changed === "break off") response.destroy();
        else response.writeHead(answer.status, { "Content-Type": "application/json" }).end(JSON.stringify(changed));
      })();
    });
  };
  /** The options that compare a candidate with the sample, for some datasets. */
  const datasets = (url: string, ids: string): string[] =>
    `--legacy ${legacy}/api/v1 --candidate ${url} --ids ${ids} --endpoint getDataset`.split(" ");

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

/**
 * Runs the command in this process: its exit code, what it printed and complained of, and the text
 * of a file that it wrote.
 */
export const compare = async (args: string[], environment: Record<string, string> = {}) => {
  const folder = temporaryFolder();
  const { code, out, errors } = await runTool(compareCommand, ["--out", folder, ...args], environment);
  const file = (name: string) => readFileSync(join(folder, name), "utf8");
  return { code, out: out.join("\n"), errors: errors.join("\n"), folder, file };
};

/** The command's report with these arguments. */
export const reportOf = async (args: string[], environment: Record<string, string> = {}): Promise<Report> => {
  const { file } = await compare(args, environment);
  return JSON.parse(file("report.json")) as Report;
};
