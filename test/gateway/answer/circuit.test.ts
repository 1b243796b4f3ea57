import { expect, test } from "vitest";
import { listeningGateway } from "../http/support.ts";
import { get, httpUpstream } from "../proxy/support.ts";
import { exchange, measures } from "./support.ts";

/** Breaks off its answers for datasets from 900 on, as legacy does if PHP aborts. */
const breaking = async (text = measures) => {
  const asked: string[] = [];
  const url = await httpUpstream((incoming, response) => {
    asked.push(incoming.url ?? "");
    if (/\/9\d\d/.test(incoming.url ?? "")) incoming.socket.destroy();
    else response.writeHead(200, { "Content-Type": "application/json" }).end(text);
  });
  return { url, asked };
};

const behindProxy = { TRUSTED_PROXIES: "127.0.0.1" };
const from = (path: string, client: string) => get(path, `X-Forwarded-For: ${client}`);
const list = "/v1/evaluationmeasures/list";

test("one client's ids that break legacy are 502 to it, and no other client waits", async () => {
  const legacy = await breaking();
  const { port } = await listeningGateway(legacy.url, behindProxy);
  for (let id = 900; id < 940; id++) {
    // A client's claims do not make it another client.
    const { status } = await exchange(port, from(`/v1/datasets/${id}`, `198.51.100.${id - 900}, 192.0.2.1`));
    expect(status).toBe(502);
  }
  expect((await exchange(port, from(list, "192.0.2.9"))).status).toBe(200);
});
