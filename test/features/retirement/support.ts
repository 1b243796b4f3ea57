import { onTestFinished, vi } from "vitest";
import type { ListClients } from "../../../features/retirement/callers.ts";
import type { Brownout, Deprecation } from "../../../features/retirement/settings.ts";
import { listeningGateway } from "../../gateway/http/support.ts";
import { httpUpstream } from "../../gateway/proxy/support.ts";
import type { AllSettings } from "../../../features/settings.ts";

export const page = "https://catalogue.example/move";

export const datasets: Deprecation = {
  path: "/api/v1/json/data",
  since: "2026-01-01",
  sunset: "2027-01-01",
  link: page,
  successor: "/v1/datasets",
};

/** The headers that the gateway adds to answers below `datasets`. */
export const datasetsHeaders = [
  "Deprecation: @1767225600",
  "Sunset: Fri, 01 Jan 2027 00:00:00 GMT",
  `Link: <${page}>; rel="deprecation"; type="text/html", <${page}>; rel="sunset"; type="text/html", </v1/datasets>; rel="successor-version"`,
];

export const window: Brownout = {
  path: "/api/v1",
  from: "2026-11-21T12:00:00Z",
  until: "2026-11-21T13:00:00Z",
  status: 503,
};

/** Stops the wall clock at a time. Timers and sockets run as always. */
export const stoppedAt = (instant: string) => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date(instant) });
  onTestFinished(() => void vi.useRealTimers());
  return { set: (other: string) => void vi.setSystemTime(new Date(other)) };
};

/** Two of the 9000 keys that legacy takes: any other key is wrong. */
export const goodKeys = ["a1000", "a1001"].map((key) => key.padStart(32, "0")) as [string, string];

/**
 * The whole gateway over an upstream that gives all requests the same answer, except those with a
 * wrong key, and records them.
 */
export const gatewayOver = async (
  configured: { DEPRECATED?: Deprecation[]; BROWNOUTS?: Brownout[] } & Record<string, unknown> = {},
  headers: Record<string, string> = {},
) => {
  const asked: string[] = [];
  const url = await httpUpstream((request, response) => {
    let text = request.url ?? "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    request.once("end", () => {
      asked.push(`${request.method} ${request.url}`);
      const [, key = goodKeys[0]] = /api_key=([^&]*)/i.exec(text) ?? [];
      const isGood = /^0{27}a[1-9]\d{3}$/i.test(key);
      response.writeHead(isGood ? 200 : 412, { "Content-Length": 2, ...headers }).end("{}");
    });
  });
  const environment = Object.fromEntries(
    Object.entries(configured).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  );
  const gateway = await listeningGateway(url, environment);
  const clients: ListClients = gateway.features.retirement.clients;
  const reconfigure = async (changed: { DEPRECATED?: Deprecation[]; BROWNOUTS?: Brownout[] }) => {
    const given = { ...gateway.core.settings, DEPRECATED: [], BROWNOUTS: [], ...changed };
    await gateway.features.reload(given as AllSettings);
  };
  return { ...gateway, clients, reconfigure, asked };
};

/** The header lines of an answer whose name is one of these. */
export const linesOf = (head: string, ...names: string[]): string[] =>
  head.split("\r\n").filter((line) => names.some((name) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`)));

export const ofDeprecation = (head: string): string[] => linesOf(head, "Deprecation", "Sunset", "Link");
