import { decodeHTMLStrict } from "entities";
import { onTestFinished } from "vitest";
import { startAdminServer } from "../../../../src/gateway/operators/adminServer.ts";
import { consoleFor } from "../consoleFor.ts";
import { operatorsListener } from "../../../../src/gateway/operators/app.ts";
import { gateSchema } from "../../../../features/migration/stage.ts";
import { staged } from "../../migration/support.ts";

/** Where clients find the gateway, as the page says it. */
export const address = "http://gateway.example:8642/v1";
/** The agent of a client that calls legacy. */
export const agent = "sample-client/0.14.2 (Python 3.12)";

const entry = {
  id: "no-licence",
  endpoint: "getDataset",
  path: "/licence",
  kind: "missing" as const,
  reason: "Licences come later.",
  owner: "Grace",
  until: "2999-01-01",
  link: "https://issues.example/12",
};

/** The page as a text, without our own styles and scripts. */
export const markupOf = (page: string): string => page.replaceAll(/<(style|script)[^>]*>[\s\S]*?<\/\1>/g, "");
/** The heading of the page, with the list of troubles. */
export const headingOf = (page: string): string => /<h1[^]*?<\/header>/.exec(page)?.[0] ?? "";
/** The text that a reader sees, in one line. */
export const textOf = (page: string): string =>
  decodeHTMLStrict(markupOf(page).replaceAll(/<[^>]*>/g, " ")).replaceAll(/\s+/g, " ");

/** Our markup's data attributes, as in `data-key="Legacy" data-light="ok"`, by their names without `data-`. */
const dataOf = (attributes: string): Record<string, string> =>
  Object.fromEntries(
    [...attributes.matchAll(/\sdata-([\w-]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]),
  );

/**
 * The elements with this data attribute, in their order: all their data attributes, and the text within, up to an
 * element of the same kind. The page leaves out the end tags of cells, rows and lists of values.
 */
export const shown = (page: string, name: string): Record<string, string>[] =>
  [
    ...markupOf(page).matchAll(
      new RegExp(`<(\\w+)([^<>]*\\sdata-${name}="[^<>]*)>([^]*?)(?=</?\\1\\b|<(?:tr|dt)\\b|</(?:table|dl)>)`, "g"),
    ),
  ].map(([, , attributes = "", within = ""]) => ({ ...dataOf(attributes), text: textOf(within).trim() }));

/** The figures of each row of the traffic, in the order of the page: name, requests, share from the cache, failures. */
export const trafficOf = (page: string): string[][] =>
  [...page.matchAll(/<table class="traffic">[^]*?<\/table>/g)].flatMap(([table]) =>
    table.split("<tr").flatMap((row) => {
      const figures = [...row.matchAll(/ data-figure="(?:requests|cached|failed)"[^<>]*>([^<]*)/g)];
      return figures.length === 0
        ? []
        : [[dataOf(row.split(">")[0] ?? "")["key"] ?? "", ...figures.map(([, figure = ""]) => figure.trim())]];
    }),
  );

/** The head of the page: what clients get, the lights by name, the troubles by name, the last hours' figures. */
export const headOf = (page: string) => {
  const by = (key: string, value: string) => shown(page, value).map((item) => [item[key], item[value]]);
  const [curve] = shown(page, "requests");
  return {
    verdict: shown(page, "verdict")[0]?.["verdict"],
    lights: Object.fromEntries(by("key", "light")),
    troubles: Object.fromEntries(shown(page, "trouble").map(({ trouble, state }) => [trouble, state])),
    figures: [Number(curve?.["requests"] ?? 0), Number(curve?.["failed"] ?? 0)],
  };
};

/** Takes what closes something that was opened, and calls it at the end of the test. */
type OnEnd = (close: () => Promise<void>) => void;

/** The operators' listener of a gateway, for a browser, and its app, which needs none. */
export const operatorsOf = async (
  { gateway }: Pick<Awaited<ReturnType<typeof staged>>, "gateway">,
  { token, onEnd = onTestFinished }: { token?: string | undefined; onEnd?: OnEnd } = {},
) => {
  const app = consoleFor(gateway, { address, token });
  const server = await startAdminServer(operatorsListener(app), { host: "127.0.0.1", port: 0 }, gateway.clientLimits);
  onEnd(() => server.stop());
  return {
    app,
    url: `http://127.0.0.1:${server.port}/`,
    markup: async (path = "/") => (await app.request(path, { headers: { Host: "127.0.0.1" } })).text(),
  };
};

/** A migration under way: differences of all four kinds, one move by Ada, one caller of legacy. */
export const underWay = async ({
  reason = entry.reason,
  why = "first look",
  ...options
}: { token?: string; reason?: string; why?: string; onEnd?: OnEnd } = {}) => {
  const opened = await staged(
    {
      getDataset: { stage: "shadow", gate: { ...gateSchema.parse({}), parity: 0.97 } },
      listDatasets: { stage: "shadow" },
      getStudy: { stage: "modern", share: 100 },
    },
    {
      faults: [
        { endpoint: "getDataset", fault: "wrongType", path: "/version" },
        { endpoint: "getDataset", fault: "reorderedList", path: "/tag" },
        { endpoint: "getDataset", fault: "missingField", path: "/licence" },
        { endpoint: "getStudy", fault: "otherValue", path: "/name", again: false },
        { endpoint: "listDatasets", fault: "lostEntry", path: "/*/quality" },
      ],
      environment: { LEGACY_ADMIN_KEY: "AD000000000000000000000000000000" },
      parts: { expected: [{ ...entry, reason }] },
    },
  );
  const { ask, compared, operate, port } = opened;
  const callLegacy = (path: string, by = agent) =>
    fetch(`http://127.0.0.1:${port}/api/v1/json/${path}`, { headers: { "User-Agent": by } });
  for (const path of ["/datasets/61", "/data/list/limit/5", "/studies/99", "/setup/1"]) await ask(path);
  await callLegacy("data/61");
  for (const endpoint of ["getDataset", "listDatasets", "getStudy"]) await compared(endpoint, 1);
  await operate("POST", "/stages/getSetup", { stage: "shadow", share: 20, why, by: "Ada" });
  return { ...opened, callLegacy, ...(await operatorsOf(opened, options)) };
};
