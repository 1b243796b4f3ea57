import type { IncomingMessage } from "node:http";
import { onTestFinished } from "vitest";
import { type RunningServer, startServer } from "../../../src/gateway/server.ts";
import { httpUpstream } from "../proxy/support.ts";
import type { GatewayParts } from "../../support/gateway.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { settingsOf } from "../../support/settings.ts";

/** One request as an upstream saw it. */
export type Seen = { method: string; target: string; headers: Record<string, unknown>; body: string };

/** An upstream that records its requests, and answers by path; by default with the evaluation measures. */
export const recordingUpstream = async (
  answer: (seen: Seen) => { status?: number; body: string; headers?: Record<string, string> } | undefined = () =>
    undefined,
) => {
  const seen: Seen[] = [];
  const url = await httpUpstream((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const received = { method: request.method ?? "", target: request.url ?? "", headers: request.headers, body };
      seen.push(received);
      const {
        status = 200,
        body: text,
        headers,
      } = answer(received) ?? { body: '{"evaluation_measures":{"measures":{"measure":"kappa"}}}' };
      response
        .writeHead(status, { "Content-Type": "application/json", "Set-Cookie": "ci_session=secret", ...headers })
        .end(text);
    });
  });
  return { url, seen };
};

/** True for the gateway's probe, which finds out if legacy fails. */
export const isProbeOfLegacy = ({ url, headers }: Pick<IncomingMessage, "url" | "headers">): boolean =>
  url === "/api/v1/json/evaluationmeasure/list" &&
  headers["user-agent"] === "catalog-gateway" &&
  headers["x-forwarded-for"] === undefined;

export const xmlError = (code: number, message: string) => ({
  status: 412,
  headers: { "Content-Type": "text/xml; charset=utf-8" },
  body: `<oml:error xmlns:oml="http://openml.org/openml">\n\t<oml:code>${code}</oml:code>\n\t<oml:message>${message}</oml:message>\n\t</oml:error>\n`,
});

/**
 * How to ask the gateway at this URL. `how`: its `Cache-Status`, or "passed". `always`: headers of each request, which
 * those of a single request replace.
 */
export const asking =
  (url: string, always: Record<string, string> = {}) =>
  async (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) => {
    const response = await fetch(url + path, {
      redirect: "manual",
      ...init,
      headers: { "Accept-Encoding": "identity", ...always, ...headers },
    });
    const how = response.headers.get("cache-status")?.replace("catalog-gateway; ", "") ?? "passed";
    return { status: response.status, body: await response.text(), headers: response.headers, how };
  };

/** A gateway that listens, in front of this upstream. */
export const listeningGateway = async (
  url: string,
  environment: Record<string, string> = {},
  parts: GatewayParts = {},
) => {
  const gateway = await gatewayFor(url, environment, parts);
  const loaded = settingsOf(environment);
  const prefixes = "settings" in loaded ? loaded.settings.PREFIXES : [];
  const server: RunningServer = await startServer(gateway, { host: "127.0.0.1", port: 0, prefixes });
  onTestFinished(async () => {
    // Nothing that a test has left is waited for: a graceful stop looks for idle connections four times a second.
    await server.stop(0);
    await gateway.close();
  });
  return { ...gateway, port: server.port, server, url: `http://127.0.0.1:${server.port}` };
};
