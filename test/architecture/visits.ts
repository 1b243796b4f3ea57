import { Agent, request } from "node:http";
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { startServer } from "../../src/gateway/server.ts";
import { gatewayFor } from "../support/gateway.ts";

// Prints what requests run: lines of JSON, a request and the functions by file. The arguments: legacy's URL, then the
// requests, each of them `GET /path` or `POST /path {"json": "body"}`.
const [legacy = "", ...requests] = process.argv.slice(2);
const root = join(import.meta.dirname, "../..");
const gateway = await gatewayFor(legacy, { DOCUMENTS: "true", ACCESS_LOG: "errors" }, { slow: 60_000 });
const { port } = await startServer(gateway, { host: "127.0.0.1", port: 0, prefixes: ["/v1"] });
const agent = new Agent({ keepAlive: true });
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

const ask = (asked: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const [method = "", path = "", ...body] = asked.split(" ");
    const headers =
      method === "POST" ? { "Content-Type": "application/json", "X-API-Key": process.env["VISITOR_KEY"] } : {};
    const sent = request({ port, method, path, agent, headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode));
    });
    sent.once("error", reject).end(body.join(" "));
  });

for (const asked of requests) {
  await session.post("Profiler.takePreciseCoverage");
  const status = await ask(asked);
  // Work that a request does after its answer belongs to it.
  await turn();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const visited = result.flatMap(({ url, functions }) => {
    const [, file] = url.split(`${root}/`);
    if (file === undefined || !/^(src|transforms|libraries|features|tools)\//.test(file)) return [];
    // The first range of a module is the module itself.
    const ran = functions.filter(({ ranges: [range] }) => range && range.startOffset > 0 && range.count > 0);
    return ran.length === 0 ? [] : [[file, ran.map(({ functionName }) => functionName || "()")] as const];
  });
  process.stdout.write(`${JSON.stringify({ asked, status, visited: Object.fromEntries(visited) })}\n`);
}
process.exit();
