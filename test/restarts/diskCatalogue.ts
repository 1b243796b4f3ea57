import { createServer } from "node:http";
import { Address, type Group, Write } from "./diskModel.ts";

/** Entities of each kind, and pages of each list: with both interfaces 30,000 addresses. Ids begin at 100. */
const ENTITIES = 1600;
const PAGES = 440;
const FIRST = 100;
/** Milliseconds that legacy takes for an answer, at most: reads and writes overlap. */
const SLOW_MS = 15;

const oldInterface = "/api/v1/json";
const key = "a".repeat(32);

/** Records: their group, their path in the new interface and at legacy, and legacy's document. */
const records = `
dataset datasets data {"data_set_description":{"id":"ID","name":"TEXT","processing_date":"2021-04-04 04:04:04"}}
dataset datasets/features data/features {"data_features":{"feature":[{"index":0,"name":"TEXT","is_target":true,"is_ignore":false,"is_row_identifier":false}]}}
dataset datasets/qualities data/qualities {"data_qualities":{"quality":[{"name":"TEXT","value":1}]}}
task tasks task {"task":{"task_id":"ID","task_name":"TEXT","task_type_id":1}}
flow flows flow {"flow":{"id":"ID","name":"TEXT"}}
run runs run {"run":{"run_id":"ID","task_id":1,"flow_name":"TEXT","output_data":{"evaluation":[{"name":"kappa","value":1}]}}}
setup setup setup {"setup_parameters":{"setup_id":"ID","flow_id":1,"parameter":[{"id":1,"flow_id":1,"flow_name":"TEXT"}]}}
study studies study {"study":{"id":"ID","name":"TEXT"}}`;
/** Lists: their groups, their path, legacy's document, and a row of it. */
const lists = `
datasets data/list/status/active {"data":{"dataset":[ROWS]}} {"did":1,"name":"TEXT","file_id":1,"quality":[]}
tasks,datasets task/list {"tasks":{"task":[ROWS]}} {"task_id":1,"task_type_id":1,"name":"TEXT","input":[],"quality":[]}
flows flow/list {"flows":{"flow":[ROWS]}} {"id":1,"name":"TEXT"}
runs run/list/task/1 {"runs":{"run":[ROWS]}} {"run_id":1,"task_id":1,"error_message":"TEXT"}
setups setup/list {"setups":{"setup":[ROWS]}} {"setup_id":1,"flow_id":1,"parameter":[{"id":1,"flow_id":1,"flow_name":"TEXT"}]}`;
const rowsOf = (table: string): string[][] =>
  table
    .trim()
    .split("\n")
    .map((line) => line.split(/ (?![\d:]+")/));

/** Bytes of the list on this page: 5 KB to 200 KB, the logarithms are spread evenly. */
const sizeOf = (page: number): number => 5000 * 40 ** ((page * 0.618) % 1);

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T;

/** All addresses of a catalogue, in random order, and writes to it. Its legacy is opened and closed by the test. */
export const openCatalogue = (port: number) => {
  const groups = new Map<string, Group>();
  const groupsOf = (names: readonly string[]): Group[] =>
    names.map((name) => {
      const group = groups.get(name) ?? { begun: 0, ended: 0, deleting: 0, applied: 0, answered: 0, deleted: 0 };
      groups.set(name, group);
      return group;
    });

  const addresses: Address[] = [];
  const documents = new Map<string, () => string>();
  const add = (ours: string, legacy: string, names: string[], document: (text: string) => string): void => {
    const of = { legacyPath: legacy, groups: groupsOf(names), document };
    const old = new Address({ ...of, path: oldInterface + legacy, isTransformed: false });
    documents.set(legacy, () => old.text());
    addresses.push(old, new Address({ ...of, path: `/v1${ours}`, isTransformed: true }));
  };
  for (const [kind = "", ours, legacy, document = ""] of rowsOf(records))
    for (let id = FIRST; id < FIRST + ENTITIES; id++)
      add(`/${ours}/${id}`, `/${legacy}/${id}`, [`${kind}/${id}`, kind], (text) =>
        document.replace('"ID"', String(id)).replace("TEXT", text),
      );
  for (const [names = "", list, document = "", row = ""] of rowsOf(lists))
    for (let page = FIRST; page < FIRST + PAGES; page++) {
      const path = `/${list}/limit/1000/offset/${page}`;
      const other = `,${row.replace("TEXT", "another row ".repeat(20))}`;
      const others = other.repeat(sizeOf(page) / other.length);
      add(path, path, names.split(","), (text) => document.replace("ROWS", row.replace("TEXT", text) + others));
    }

  const writes = new Map<string, Write>();
  /** A write to these groups, as a client sends it. `left`: the groups whose lists it leaves for failures of legacy. */
  const write = (method: string, path: string, body: string, names: string[], left: string[] = []): Write => {
    const id = `write-${writes.size}`;
    const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
    const headers = { "X-Request-Id": id, "X-API-Key": key, "Content-Type": type };
    const made = new Write({ path, method, headers, body }, groupsOf(names), groupsOf(left));
    writes.set(id, made);
    return made;
  };
  const tagged = rowsOf(records).filter(([kind, path]) => kind !== "study" && !path?.includes("/"));
  const form = `api_key=${key}`;

  return {
    addresses: addresses.toSorted(() => Math.random() - 0.5),
    /** Most writes set a tag. One in fifty deletes entries of lists. */
    randomWrite(): Write {
      const id = FIRST + Math.floor(ENTITIES * Math.random() ** 3);
      const [kind = "", ours, legacy] = pick(tagged);
      const [chance, list] = [Math.random(), `${kind}s`];
      const dataset = [`dataset/${id}`, "datasets"];
      if (chance < 0.005)
        return write("POST", "/v1/datasets/status/update", `{"dataset_id":${id},"status":"active"}`, dataset);
      if (chance < 0.01) return write("POST", `${oldInterface}/data/edit`, `${form}&data_id=${id}`, dataset);
      if (chance < 0.015)
        return write("DELETE", `${oldInterface}/run/${id}?${form}`, "", [`run/${id}`, "runs", "study", "studies"]);
      if (chance < 0.02)
        return write("DELETE", `${oldInterface}/task/${id}?${form}`, "", [`task/${id}`, "tasks", "study", "studies"]);
      const uploaded = ["runs", "setups"];
      if (chance < 0.05) return write("POST", `${oldInterface}/run`, `${form}&description=a`, uploaded, uploaded);
      const names = [`${kind}/${id}`, list];
      return chance < 0.5
        ? write("POST", `${oldInterface}/${legacy}/tag`, `${form}&${legacy}_id=${id}&tag=a`, names, [list])
        : write("POST", `/v1/${ours}/tag`, `{"${legacy}_id":${id},"tag":"a"}`, names, [list]);
    },
    /** Opens legacy, which applies writes and shows them. Resolves with a function that closes it. */
    async openLegacy(): Promise<() => Promise<void>> {
      const server = createServer((request, response) => {
        const { method, url = "", headers } = request;
        const path = url.replace(oldInterface, "").replace(/\?.*/, "");
        let body = "";
        request.on("data", (chunk: Buffer) => (body += chunk.toString()));
        request.on("end", () => {
          if (method !== "GET") writes.get(String(headers["x-request-id"]))?.apply();
          const id = /(?:data|task|flow|run|setup)_id=(\d+)/.exec(body)?.[1] ?? "1";
          const written = { [path.slice(1).replaceAll("/", "_")]: { id, status: "active", tag: ["a"] } };
          const read = documents.get(path)?.() ?? '{"evaluation_measures":{"measures":{"measure":"kappa"}}}';
          const answer = method === "GET" ? read : JSON.stringify(written);
          response.setHeader("Content-Type", "application/json");
          setTimeout(() => response.end(answer), Math.random() * SLOW_MS);
        });
      });
      await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
      return async () => {
        server.closeAllConnections();
        await new Promise((resolve) => void server.close(resolve));
      };
    },
  };
};
