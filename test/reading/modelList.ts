import { onTestFinished } from "vitest";
import type { Caller, LegacyClient } from "../../src/legacy/client.ts";
import { legacyAnswer } from "../../src/legacy/client.ts";
import { fetchAnswer, type LegacyResult } from "../../src/serve/legacyFetch.ts";
import type { PreparedEndpoint } from "../../src/serve/prepared.ts";
import { prepare } from "../../src/serve/prepared.ts";
import { openObserver } from "../../src/telemetry/observer.ts";
import { openReader, type ReaderSettings } from "../../src/reading/reader.ts";
import { catalogue } from "../../transforms/catalogue.ts";

export type ModelRow = { did: number; name: string };

const jsonRow = ({ did, name }: ModelRow): string =>
  `  {"did":${did},\n   "name":"${name}",\n   "version":1,\n   "status":"active",\n   "format":"ARFF",\n   "md5_checksum":"",\n      "file_id": ${did},\n      "quality":[\n        {"name":"NumberOfClasses",\n     "value":"3.0"\n    }\n            ]\n      }\n  `;
const xmlRow = ({ did, name }: ModelRow): string =>
  `    <oml:dataset>\n    <oml:did>${did}</oml:did>\n    <oml:name>${name}</oml:name>\n    <oml:version>1</oml:version>\n    <oml:uploader>1</oml:uploader>\n    <oml:status>active</oml:status>\n    <oml:format>ARFF</oml:format>\n        <oml:file_id>${did}</oml:file_id> \n            <oml:quality name="NumberOfClasses">3.0</oml:quality>\n      </oml:dataset>\n`;

/** Legacy's two templates of the dataset list, neither of which escapes a name. */
export const jsonList = (rows: readonly ModelRow[]): string =>
  `{"data":{"dataset":[\n  ${rows.map(jsonRow).join(",")}  ]}\n}\n`;
export const xmlList = (rows: readonly ModelRow[]): string =>
  `<oml:data xmlns:oml="http://openml.org/openml">\n${rows.map(xmlRow).join("")}  </oml:data>\n`;

export const ours = ({ did, name }: ModelRow) => ({
  did,
  name: name === "" ? null : name.replaceAll(/\r\n?/g, "\n"),
  version: 1,
  format: "arff",
  file_id: did,
  status: "active",
  md5_checksum: null,
  quality: [{ name: "NumberOfClasses", value: 3 }],
});

const none = '{"error":{"code":"372","message":"No results"}}';

export const settings: Omit<ReaderSettings, "endpoints"> = {
  knowledge: { legacyStudies: new Set() },
  module: undefined,
  large: { json: 0, xml: 0 },
  queue: { jobs: 100, bytes: 1e9 },
  threads: 1,
  heap: 256,
  timeout: 20_000,
  idle: 60_000,
  onFailed: () => undefined,
};

export const prepared = prepare(catalogue.endpoints, {
  legacy: "",
  lifetimes: {},
});
export const listDatasets = prepared.find(({ name }) => name === "listDatasets") as PreparedEndpoint;

/** A legacy that lists these rows in whatever order, and a gateway's way to ask it. */
export const modelList = (
  rows: readonly ModelRow[],
  {
    order = (some: ModelRow[]) => some,
    limit = 10_000,
    ...changed
  }: Partial<ReaderSettings> & {
    order?: (rows: ModelRow[]) => ModelRow[];
    limit?: number;
  } = {},
) => {
  const asked: string[] = [];
  const client: LegacyClient = async (request, form, _caller, readXml) => {
    asked.push(`${form} ${request.path}`);
    const ids = /\/data_id\/([\d,]+)/.exec(request.path)?.[1]?.split(",").map(Number);
    const most = Number(/\/limit\/(\d+)/.exec(request.path)?.[1]);
    const page = order(rows.filter(({ did }) => ids?.includes(did) ?? true)).slice(0, most);
    if (page.length === 0) return legacyAnswer(412, Buffer.from(none), readXml);
    return legacyAnswer(200, Buffer.from(form === "json" ? jsonList(page) : xmlList(page)), readXml);
  };
  const endpoints = new Map(prepared.map((endpoint) => [endpoint.name, endpoint]));
  const reader = openReader({ ...settings, endpoints, ...changed });
  const services = {
    client,
    reader,
    keys: {
      verify: async () => undefined,
      accepted: () => undefined,
      refused: () => undefined,
      ownerOf: (key: string) => key,
      isProven: () => true,
      wasAccepted: () => true,
    },
    errors: catalogue.errors,
    knowledge: settings.knowledge,
    observer: openObserver("silent"),
    totalTimeout: 10_000,
  };
  const input = { ...listInput, limit, offset: 0 };
  const ask = async (as: "answer" | "lines" = "answer", caller: Partial<Caller> = {}): Promise<LegacyResult> => {
    const request = listDatasets.legacy(input);
    if ("unsent" in request) throw new Error(request.unsent);
    const whole = { headers: [], deadline: Date.now() + 10_000, ...caller };
    return fetchAnswer(services, listDatasets, request, whole, input, as);
  };
  return { ask, asked, close: () => reader.close() };
};

/** Every field of the list, as reading a request gives it. */
const listInput: Record<string, unknown> = Object.fromEntries(
  Object.entries(listDatasets.fields).map(([name, { fallback }]) => [name, fallback?.value]),
);

/** The same, closed with the test. */
export const modelListFor: typeof modelList = (...made) => {
  const model = modelList(...made);
  onTestFinished(() => model.close());
  return model;
};

/** The document of a result; its kind where there is none. */
export const documentOf = (result: LegacyResult): unknown =>
  "written" in result ? JSON.parse(result.written.body.toString()) : result.outcome.kind;
