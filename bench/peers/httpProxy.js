// http-proxy in front of UPSTREAM, as its documentation has it, with a keep-alive agent.
import { Agent, createServer } from "node:http";
import httpProxy from "http-proxy";

const proxy = httpProxy.createProxyServer({
  target: process.env.UPSTREAM,
  agent: new Agent({ keepAlive: true, maxSockets: 64 }),
});
proxy.on("error", (error, request, response) => response.writeHead?.(502).end());
const server = createServer((request, response) => proxy.web(request, response));
server.listen(0, "127.0.0.1", () => console.log(`listens on http://127.0.0.1:${server.address().port}`));
