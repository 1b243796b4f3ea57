// A legacy interface of any size: every dataset up to MOST exists, every list has its rows. DELAY: milliseconds before each answer.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const dataset = readFileSync(process.env.BODY, "utf8");
const most = Number(process.env.MOST ?? Infinity);
const delay = Number(process.env.DELAY ?? 0);
const unknown = '{"error":{"code":"111","message":"Unknown dataset"}}';
let asked = 0;

const row = (did) => ({ did, name: `set_${did}`, version: 1, status: "active", format: "ARFF", quality: [] });
const listOf = (path) => {
  const [, limit, offset] = /limit\/(\d+)\/offset\/(\d+)/.exec(path).map(Number);
  return JSON.stringify({ data: { dataset: Array.from({ length: limit }, (_, i) => row(offset + i)) } });
};

const server = createServer((request, response) => {
  if (request.url === "/asked") {
    response.end(String(asked));
    return;
  }
  asked++;
  const id = /\/data\/(\d+)$/.exec(request.url)?.[1];
  const [status, body] =
    id === undefined
      ? [200, listOf(request.url)]
      : Number(id) > most
        ? [412, unknown]
        : [200, dataset.replace('"301"', `"${id}"`)];
  const answer = () => response.writeHead(status, { "Content-Type": "application/json" }).end(body);
  if (delay > 0) setTimeout(answer, delay);
  else answer();
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
