import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { onTestFinished } from "vitest";
import { send as sendSample } from "../../tools/sampleLegacy/answers.ts";
import { readOutage } from "../../tools/sampleLegacy/outages.ts";
import { isProbeOfLegacy } from "../gateway/http/support.ts";

/** The keys of the two users that the fake knows. */
export const keys = { alice: "a".repeat(32), bob: "b".repeat(32) };
const people = ["nobody", "alice", "bob"] as const;
/** A caller; `nobody` is a caller without a key. */
export type Person = (typeof people)[number];

const personOf = (key: string | undefined): Person | undefined =>
  key === undefined ? "nobody" : key === keys.alice ? "alice" : key === keys.bob ? "bob" : undefined;

/** Legacy's documents by the beginning of their path. `mark`: the caller and the version, as `alice 2`. */
const documents: Record<string, (mark: string, id: string) => object> = {
  "/data/list": (name) => ({
    data: { dataset: [{ did: 1, name, version: 1, status: "active", format: "arff", file_id: 1, quality: [] }] },
  }),
  "/data/": (name, id) => {
    const long = id === "777" ? { description: "long ".repeat(300) } : {};
    return { data_set_description: { id, name, format: "arff", ...long } };
  },
  "/setup/": (name, id) => ({
    setup_parameters: { setup_id: id, flow_id: "1", parameter: { id: "1", flow_id: "1", flow_name: name } },
  }),
  "/study/": (name) => ({ study: { id: "99", name } }),
  // This document has no place for a text: its id is the caller's number and the version.
  "/flow/exists": (mark) => {
    const [who = "", version] = mark.split(" ");
    return { flow_exists: { exists: "true", id: `${1 + people.findIndex((person) => person === who)}${version}` } };
  },
  "/estimationprocedure": (name) => ({
    estimationprocedures: { estimationprocedure: { id: "1", ttid: "1", name, type: "x" } },
  }),
  "/evaluationmeasure": (name) => ({ evaluation_measures: { measures: { measure: name } } }),
};

/** The caller that an answer was made for, and its version: `nobody 1`. "none" if it has no such mark. */
export const markOf = (body: string): string => {
  const [, flow] = /"flow_id":([123]\d+)\}$/.exec(body) ?? [];
  if (flow !== undefined) return `${people[Number(flow[0]) - 1]} ${flow.slice(1)}`;
  return /(nobody|alice|bob) \d+/.exec(body)?.[0] ?? "none";
};

/** Codings that a server in front of legacy may apply to its answers. */
const coders: Record<string, (text: string) => Buffer> = {
  gzip: gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
  zstd: zstdCompressSync,
};

type Answer = { status: number; type: string; body: string | Buffer; coding?: string };
const json = (status: number, body: unknown): Answer => ({
  status,
  type: "application/json",
  body: JSON.stringify(body),
});
const error = (code: number, message: string) => json(412, { error: { code: String(code), message } });
/** Legacy refuses a caller in XML. A form's field `coded` names a coding of the answer. */
const refusal = (code: number, form: URLSearchParams): Answer => {
  const text = `<oml:error xmlns:oml="http://openml.org/openml"><oml:code>${code}</oml:code><oml:message>No</oml:message></oml:error>`;
  const coding = form.get("coded") ?? "";
  const coded = coders[coding]?.(text);
  return { status: 412, type: "text/xml; charset=utf-8", body: coded ?? text, ...(coded && { coding }) };
};

/**
 * Starts a legacy that a test scripts. Each of its documents says for which caller and in which version it was made:
 * `alice 2`. A write makes the next version. `answer` takes the place of these documents, for example `openSample({})`.
 */
export const fakeLegacy = async ({
  address = "127.0.0.1",
  answer,
}: {
  address?: string;
  answer?: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
} = {}) => {
  let toHold = 0;
  const held: (() => void)[] = [];
  const legacy = {
    url: "",
    /** The requests in order, without the gateway's probes: `GET /data/61 as alice`. */
    asked: [] as string[],
    /**
     * What stands in place of every answer: a form of outage as `page-502` or `empty-500`; `down`: connections break.
     * `continuing`: a 100 that was not asked for comes before each answer.
     */
    trouble: undefined as string | undefined,
    /** The gateway's probes are answered in spite of the trouble: it does not take legacy for failed. */
    sparesProbes: false,
    version: 1,
    /** The only key that may see documents. */
    privateTo: undefined as string | undefined,
    /** No document exists. */
    gone: false,
    goodKeys: new Set(Object.values(keys)),
    /** The answer to every request but a GET. */
    toWrites: undefined as Answer | undefined,
    /** Holds the answers to the next `count` requests, which are made at once, until `letGo`. */
    hold: (count = Infinity): void => void (toHold = count),
    /** Sends the held answers, the first `count` of them if that is given; without it, no more are held. */
    letGo(count = Infinity): void {
      if (count === Infinity) toHold = 0;
      for (const go of held.splice(0, count)) go();
    },
    close: async () => {},
  };

  const documentFor = (path: string, key: string | undefined): Answer => {
    const isStudy = path.startsWith("/study/");
    if (legacy.privateTo !== undefined && legacy.privateTo !== key)
      return error(isStudy ? 602 : 112, "No access granted");
    if (legacy.gone) return error(isStudy ? 601 : 111, "Unknown");
    const [, document] = Object.entries(documents).find(([beginning]) => path.startsWith(beginning)) ?? [];
    return json(200, document?.(`${personOf(key)} ${legacy.version}`, path.split("/")[2] ?? "") ?? "");
  };
  const written = (path: string, form: URLSearchParams): Answer => {
    legacy.version++;
    const id = form.get("data_id") ?? form.get("setup_id") ?? "0";
    return json(200, { [path.slice(1).replace("/", "_")]: { id, tag: "a" } });
  };
  const markedAnswer = (method: string, path: string, key: string | undefined, form: URLSearchParams): Answer => {
    if (key === undefined ? method !== "GET" : !legacy.goodKeys.has(key)) return refusal(key ? 103 : 102, form);
    return method === "GET" ? documentFor(path, key) : written(path, form);
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "GET", url = "/" } = request;
    const { pathname, searchParams } = new URL(url, "http://legacy");
    const path = pathname.replace(/^\/api\/v1\/(json|xml)/, "");
    let text = "";
    if (answer === undefined) for await (const chunk of request as AsyncIterable<Buffer>) text += chunk.toString();
    const form = new URLSearchParams(text);
    const inParts = /name="api_key"\r\n\r\n(\w+)/.exec(text)?.[1];
    // Legacy ignores the case of keys.
    const key = (searchParams.get("api_key") ?? form.get("api_key") ?? inParts)?.toLowerCase();
    const isProbe = isProbeOfLegacy(request);
    const who = key === undefined ? "" : ` as ${personOf(key) ?? key}`;
    if (!isProbe) legacy.asked.push(`${method} ${path}${who}`);

    // The state at the time of the request counts, even if the answer is late.
    const { toWrites } = legacy;
    const isTroubled = legacy.trouble !== undefined && !(isProbe && legacy.sparesProbes);
    const trouble = isTroubled ? legacy.trouble : undefined;
    const isBeing = trouble === undefined || trouble === "continuing";
    const marked = isBeing && answer === undefined ? markedAnswer(method, path, key, form) : undefined;
    if (toHold > 0 && !isProbe) {
      toHold--;
      await new Promise<void>((resolve) => held.push(resolve));
    }
    if (trouble === "continuing") response.writeContinue();
    const sent = toWrites && method !== "GET" ? toWrites : marked;
    if (trouble === "down") request.socket.destroy();
    else if (!isBeing) {
      const inOutage = readOutage(trouble).answer?.(url);
      if (inOutage) sendSample(response, inOutage);
    } else if (sent === undefined) await answer?.(request, response);
    else {
      if (sent.coding !== undefined) response.setHeader("Content-Encoding", sent.coding);
      response.writeHead(sent.status, { "Content-Type": sent.type }).end(sent.body);
    }
  };

  const server = createServer((request, response) => void respond(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => void server.listen(0, address, resolve));
  legacy.url = `http://${address}:${(server.address() as AddressInfo).port}`;
  legacy.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(legacy.close);
  return legacy;
};

export type FakeLegacy = Awaited<ReturnType<typeof fakeLegacy>>;
