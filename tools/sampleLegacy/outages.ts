import type { IncomingMessage, ServerResponse } from "node:http";
import { http, trustedProxies } from "../../src/operation/index.ts";
import {
  deadAnswer,
  htmlAnswer,
  page,
  pageFor,
  refusedAnswer,
  type SampleAnswer,
  scriptAnswer,
  send,
} from "./answers.ts";
import type { SampleHandler } from "./call.ts";
import { lists } from "./lists.ts";
import { escapeXml, ScriptDied } from "./tree.ts";

/** Functions of legacy that fail, by their routes. */
export type FailingFunctions = Readonly<Record<string, SampleHandler>>;

/**
 * A form of outage: `answer` replaces every answer, and `undefined` never comes; `functions` replaces some of legacy's
 * functions.
 */
type Form = {
  means: string;
  answer?: (target: string) => SampleAnswer | undefined;
  functions?: FailingFunctions;
};

/** Without its database the interface answers 107 to every request. The website's pages do not need the database. */
const withoutDatabase = (target: string): SampleAnswer => {
  const [path = "/"] = target.split("?");
  if (/^\/+data\/+v1\/+download\//.test(path))
    return htmlAnswer(
      "script",
      200,
      "Database connection error. Usually due to high server load. Please wait N seconds and try again. ",
    );
  if (/^\/+(data\/+download|api_splits)\//.test(path)) return deadAnswer();
  return pageFor(path) ?? refusedAnswer({ error: 107 }, "xml");
};

/** A page of a front in place of every answer. `headers`: those of an answer to this target. */
const frontPage = (
  status: number,
  means: string,
  headers: (target: string) => { Location?: string; "Retry-After"?: string } = () => ({}),
): Form => ({
  means,
  answer(target) {
    const more = headers(target);
    const link = more.Location === undefined ? "" : ` It is <a href="${escapeXml(more.Location)}">here</a>.`;
    const title = status === 200 ? "Maintenance" : `${status} ${http.STATUS_CODES[status]}`;
    const answer = page("front", status, title, `The front of the sample answers.${link}`);
    return { ...answer, headers: { ...answer.headers, ...more } };
  },
});
const retryLater = () => ({ "Retry-After": "120" });

/** A body that is shorter than its length. */
const cutAnswer = (): SampleAnswer => {
  const { status, headers, body } = scriptAnswer(200, "json", '{"data_set_description":{"id":"61","name":"ir');
  return { status, headers: { ...headers, "Content-Length": 2 * body.length, Connection: "close" }, body };
};

const dies: SampleHandler = () => {
  throw new ScriptDied();
};

/** Legacy treats a query that fails as a query that finds no rows. */
const findsNothing = (...routes: (keyof typeof lists)[]): FailingFunctions =>
  Object.fromEntries(
    routes.map((route): [string, SampleHandler] => [
      route,
      (call) => lists[route]({ ...call, datasets: [], tasks: [], runs: [] }),
    ]),
  );

/** The forms of outage, by name. */
export const outageForms: Readonly<Record<string, Form>> = {
  database: {
    means: "MariaDB is stopped: code 107 for everything; a data file is a text with status 200",
    answer: withoutDatabase,
  },
  "no-connections": { means: "MariaDB has no connections left: the same answers", answer: withoutDatabase },
  "page-502": frontPage(502, "the front finds no server behind it"),
  "page-503": frontPage(503, "the front refuses for load, with Retry-After", retryLater),
  "page-504": frontPage(504, "the front has waited too long"),
  "page-429": frontPage(429, "the front counts too many requests, with Retry-After", retryLater),
  "page-301": frontPage(
    301,
    "the front redirects to another host; its page repeats the address and the key",
    (target) => ({
      Location: `https://legacy.example${target}`,
    }),
  ),
  "page-302": frontPage(302, "the front redirects to a page about maintenance", () => ({
    Location: "https://legacy.example/maintenance",
  })),
  "page-403": frontPage(403, "the front blocks its callers"),
  "page-404": frontPage(404, "the front does not know the site"),
  "page-200": frontPage(200, "a page about maintenance, with status 200"),
  "empty-200": { means: "an empty body, with status 200", answer: () => htmlAnswer("script", 200, "") },
  "cut-200": { means: "the connection is closed in the middle of a body", answer: cutAnswer },
  "empty-500": { means: "every script dies: an empty 500", answer: () => deadAnswer() },
  frozen: { means: "no answer ever comes", answer: () => undefined },
  "table-dataset": {
    means: 'this table cannot be read: lists that need it say "No results", records are an empty 500',
    functions: {
      ...findsNothing("data/list/*", "task/list/*", "run/list/*", "evaluation/list/*", "evaluation/setup/list/*"),
      "data/#": dies,
      "data/features/#": dies,
      "data/qualities/#": dies,
      "data/qualities/#/#": dies,
      "task/#": dies,
      "run/#": dies,
    },
  },
  "table-run": {
    means: "likewise: runs, traces and evaluations",
    functions: {
      ...findsNothing("run/list/*", "evaluation/list/*", "evaluation/setup/list/*"),
      "run/#": dies,
      "run/trace/#": dies,
    },
  },
  "table-data_quality": {
    means: "likewise: qualities and the list of tasks; the list of datasets lacks qualities",
    functions: {
      ...findsNothing("task/list/*"),
      "data/list/*": (call) =>
        lists["data/list/*"]({ ...call, datasets: call.datasets.map((row) => ({ ...row, qualities: [] })) }),
      "data/qualities/list": () => ({ error: 641 }),
      "data/qualities/#": dies,
      "data/qualities/#/#": dies,
    },
  },
  "temporary-disk-full": {
    means: 'MariaDB cannot sort large results: the list of tasks says "No results"',
    functions: findsNothing("task/list/*"),
  },
};

/** A form of outage, and the targets that have it. */
export type SampleOutage = Form & { name: string; covers: (target: string) => boolean };

/** `/api/v1/json/flow/exists/a/1?api_key=x` -> `flow/exists/a/1/`. */
const functionPath = (target: string): string =>
  target.replace(/^\/+(api(_new)?\/+v1\/+((json|xml)\/+)?)?/, "").replace(/\/*(\?.*)?$/, "/");

/**
 * Reads `page-504`; or `page-504/flow/exists`, an outage of only the paths below `flow/exists`, in either format.
 *
 * @throws An Error that names the allowed forms.
 */
export const readOutage = (name: string): SampleOutage => {
  const [form = "", ...parts] = name.split("/");
  if (!Object.hasOwn(outageForms, form))
    throw new Error(
      `${JSON.stringify(name)} is no outage; allowed are ${Object.keys(outageForms).join(", ")}, each also for some paths: page-504/flow/exists`,
    );
  const part = functionPath(parts.join("/"));
  return {
    ...(outageForms[form] as Form),
    name,
    covers: (target) => part === "/" || functionPath(target).startsWith(part),
  };
};

const isLoopback = trustedProxies(["127.0.0.0/8", "::1"]);

/** True if a request comes from this machine, and not through a proxy on it. */
const isLocal = ({ headers, socket }: IncomingMessage): boolean =>
  isLoopback(socket.remoteAddress ?? "") && !["via", "forwarded", "x-forwarded-for"].some((name) => name in headers);

/**
 * The outage of a server, which requests to it begin (`POST /outage/page-504`), end (`DELETE /outage`) and show (`GET
 * /outage`).
 */
export const openOutages = (first?: SampleOutage) => {
  let outage = first;

  const control = (request: IncomingMessage, target: string): SampleAnswer => {
    const text = (status: number, line: string) => ({
      status,
      headers: { "Content-Type": "text/plain" },
      body: `${line}\n`,
    });
    if (!isLocal(request)) return text(403, "Outages begin and end by requests from this machine, without a proxy.");
    try {
      if (request.method === "POST") outage = readOutage(target.slice("/outage/".length));
      if (request.method === "DELETE") outage = undefined;
    } catch (error) {
      return text(400, (error as Error).message);
    }
    return text(200, outage?.name ?? "none");
  };

  return {
    /** Answers a request about outages, or a request that the outage covers. False: legacy answers it. */
    answers(request: IncomingMessage, response: ServerResponse): boolean {
      const target = request.url ?? "/";
      const isControl = /^\/outage(\/|$)/.test(target);
      if (!isControl && !(outage?.answer && outage.covers(target))) return false;
      const answer = isControl ? control(request, target) : outage?.answer?.(target);
      if (answer) send(response, answer);
      return true;
    },
    /** The functions of legacy that fail for this target. */
    failingAt: (target: string): FailingFunctions => (outage?.covers(target) ? (outage.functions ?? {}) : {}),
  };
};
