// A bare node:http server: it answers with these bytes and these headers, either all headers that the gateway sends or
// only the two that are needed.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const body = readFileSync(process.env.BODY);
const headers = JSON.parse(process.env.HEADERS);
const options = process.env.OPTIONS === undefined ? {} : JSON.parse(process.env.OPTIONS);

const server = createServer(options, (_, response) => {
  response.writeHead(200, headers);
  response.end(body);
}).listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
