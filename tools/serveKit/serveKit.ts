import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { getResponse, type RequestHandler } from "msw";
import { webRequest } from "../../fixtures/webRequest.ts";
import { listen, type Listening } from "../../src/operation/network/listen.ts";
import { closestPairs, type FixtureRequest } from "./closestPairs.ts";

/** The most bytes of a request's body. */
const MAX_KIT_BODY = 1024 * 1024;
/** The most pairs that a 501 names. */
const MAX_NAMED = 5;
const corsHeaders = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "*" };

/**
 * Listens, and answers with the handlers. `known`: the requests that they answer, which a 501 names.
 *
 * @throws If it cannot listen on the address.
 */
export const serveKit = async (
  handlers: RequestHandler[],
  known: readonly FixtureRequest[],
  address: { host: string; port: number },
): Promise<Listening> => {
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    if (incoming.method === "OPTIONS") return preflight(incoming, outgoing);
    const body = await readBody(incoming);
    if (body === undefined) return refuse(outgoing, 413, `The body has more than ${MAX_KIT_BODY} bytes.`);
    const found = await getResponse(handlers, webRequest(incoming, body));
    if (found === undefined) return unknown(incoming, outgoing, body);
    outgoing.writeHead(found.status, { ...Object.fromEntries(found.headers), ...corsHeaders });
    outgoing.end(Buffer.from(await found.arrayBuffer()));
  };
  const unknown = (incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer): void => {
    const request = { method: incoming.method ?? "", target: withoutKey(incoming.url ?? ""), body: body.toString() };
    const closest = closestPairs(request, known, MAX_NAMED).map(({ pair, method, target, body: sent, key }) => ({
      pair,
      request: `${method} ${target}`,
      ...(sent === undefined ? {} : { body: sent }),
      ...(key === undefined ? {} : { key }),
    }));
    refuse(outgoing, 501, `No pair answers ${request.method} ${request.target} with this body and key.`, closest);
  };
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: Error) => refuse(outgoing, 400, error.message));
  });
  return listen(server, address);
};

const readBody = async (incoming: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_KIT_BODY) chunks.push(chunk);
  }
  return length > MAX_KIT_BODY ? undefined : Buffer.concat(chunks);
};

const withoutKey = (target: string): string => target.replaceAll(/([?&]api_key=)[^&]*/g, "$1...");

const preflight = ({ headers }: IncomingMessage, outgoing: ServerResponse): void => {
  outgoing.writeHead(204, {
    ...corsHeaders,
    "Access-Control-Allow-Methods": "GET, HEAD, POST",
    "Access-Control-Allow-Headers": headers["access-control-request-headers"] ?? "*",
  });
  outgoing.end();
};

const refuse = (outgoing: ServerResponse, status: number, detail: string, closest: object[] = []): void => {
  if (outgoing.headersSent) return void outgoing.destroy();
  const body = { detail, ...(closest.length > 0 ? { closest } : {}) };
  outgoing.writeHead(status, { ...corsHeaders, "Content-Type": "application/json" });
  outgoing.end(`${JSON.stringify(body, undefined, 2)}\n`);
};
