// An upstream that answers all requests with the same bytes, used if nginx is not installed.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const body = readFileSync(process.env.BODY);
const server = createServer((request, response) =>
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length }).end(body),
);
server.listen(0, "127.0.0.1", () => console.log(`listens on http://127.0.0.1:${server.address().port}`));
