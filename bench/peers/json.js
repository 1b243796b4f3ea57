// A bare node:http server that parses these bytes and writes them again for each request.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const body = readFileSync(process.env.BODY);

const server = createServer((_, response) => {
  const written = Buffer.from(JSON.stringify(JSON.parse(body)));
  response.end(String(written.length));
}).listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
