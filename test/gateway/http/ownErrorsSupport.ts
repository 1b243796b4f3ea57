import { XMLParser } from "fast-xml-parser";
import { expect } from "vitest";
import { freePort } from "../../support/freePort.ts";
import type { exchange } from "../answer/support.ts";
import { get, rawUpstream, request } from "../proxy/support.ts";
import { isProbeOfLegacy } from "./support.ts";

type Answer = Awaited<ReturnType<typeof exchange>>;

/** A legacy that answers the gateway's probe only; `act` handles any other request. */
export const startLegacy = (act: (socket: { destroy: () => void }) => void) => {
  const probed = '{"evaluation_measures":{"measures":{"measure":["kappa"]}}}';
  return rawUpstream((socket, text) => {
    const [, url = ""] = text.split(" ");
    if (isProbeOfLegacy({ url, headers: { "user-agent": /^user-agent: (.*)\r$/im.exec(text)?.[1] } }))
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 58\r\n\r\n${probed}`);
    else act(socket);
  });
};

export const breakOff = async () => (await startLegacy((socket) => socket.destroy())).origin;
export const beSilent = async () => (await startLegacy(() => undefined)).origin;
export const beAway = async () => `http://127.0.0.1:${await freePort()}`;

export const forms = ["json", "xml"] as const;
type Form = (typeof forms)[number];

/** The paths at which each form is asked for; those of the new interface's tests stand in `routing.test.ts`. */
export const bases: Record<Form, readonly string[]> = {
  json: ["/api/v1/json", "/index.php/api/v1/json", "/api_new/v1/json"],
  xml: ["/api/v1/xml", "/api/v1"],
};

/** The code and the message of an error, read as old clients do; checks that it is of this form. */
const readError = (form: Form, { headers, body }: Answer): { code: string; message: string } => {
  if (form === "json") {
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    return (JSON.parse(body) as { error: { code: string; message: string } }).error;
  }
  expect([headers.get("content-type"), body]).toEqual([
    "text/xml; charset=utf-8",
    expect.stringMatching(/^<oml:error /),
  ]);
  const { "oml:error": read } = new XMLParser({ parseTagValue: false }).parse(body) as {
    "oml:error": Record<string, string>;
  };
  return { code: read["oml:code"] ?? "", message: read["oml:message"] ?? "" };
};

/**
 * Checks an answer: its status, its code, what its message says, and that it says when to ask
 * again where that is of use.
 */
export const expectError = (form: Form, answer: Answer, status: number, code: string, says: string): void => {
  const error = readError(form, answer);
  expect([answer.status, error.code]).toEqual([status, code]);
  expect(error.message).toBe(code === "107" ? `Database connection error. ${says}` : says);
  expect(error.message).not.toContain("No results");
  expect(answer.headers.has("retry-after")).toBe(code === "107");
};

export const post = (path: string, body = "data_id=1&tag=a", ...headers: string[]): string =>
  `${request(`POST ${path}`, "Content-Type: application/x-www-form-urlencoded", `Content-Length: ${body.length}`, ...headers)}${body}`;

export const unreachable = "The upstream could not be reached.";
export const broken = "The upstream gave no sound answer.";
export const late = "The upstream took too long.";
export const looped = "The request has been through this gateway before.";

/** A request below a path of legacy's interface. */
export type Send = (base: string) => string;
export const reading: Send = (base) => get(`${base}/data/61`);
export const readingByPost: Send = (base) => post(`${base}/data/qualities/61`);
export const writing: Send = (base) => post(`${base}/data/tag`);
export const resetting: Send = (base) => get(`${base}/run/reset/1`);
export const deleting: Send = (base) => request(`DELETE ${base}/data/61`);

/** Paths of legacy's data files. */
export const files = [
  "/data/download/1/a.arff",
  "/data/v1/download/1/a.arff",
  "/api_splits/get/1/Task_1_splits.arff",
  "/index.php/data/download/1",
];

/** Checks that an answer has a status and no body. */
export const expectEmpty = (answer: Answer, expected: number): void =>
  expect([answer.status, answer.headers.get("content-length"), answer.body]).toEqual([expected, "0", ""]);
