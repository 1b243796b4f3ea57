import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { get, httpUpstream } from "../proxy/support.ts";
import { exchange, keys, openConnection, start, within } from "./support.ts";
import { until } from "../support/waiting.ts";

/** A legacy that never answers. */
const silentLegacy = async () => {
  let asked = 0;
  const url = await httpUpstream(() => void asked++);
  return { url, asked: () => asked };
};
const stayingGet = (path: string) => get(path).replace("Connection: close", "Accept: */*");
const portOf = async ({ listening }: ReturnType<typeof start>) => Number(new URL(await listening()).port);

describe("a stop", () => {
  test("does not wait for connections that are idle or have not sent a request yet", async () => {
    const program = start({});
    const port = await portOf(program);
    const [used, unused] = [openConnection(port), openConnection(port)];
    used.socket.write(stayingGet("/v1/evaluationmeasures/list"));
    await until(() => used.text().includes("]"));
    expect(used.text()).not.toMatch(/connection: close/i);
    program.child.kill("SIGTERM");
    expect(await within(program.ended, 2000)).toBe(0);
    await Promise.all([used.closed, unused.closed]);
  });

  test.each(["POST /v1/nothing", "PUT /v1/datasets/list"])("does not wait for the rest of a body of %s", async (of) => {
    const program = start({});
    const client = openConnection(await portOf(program));
    client.socket.write(`${of} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc`);
    await until(() => client.text().includes("HTTP/1.1 40"));
    program.child.kill("SIGTERM");
    expect(await within(program.ended, 2000)).toBe(0);
  });

  test.each([
    ["POST /v1/nothing", "404"],
    ["GET /v1/evaluationmeasures/list", "200 OK[^]*: catalog-gateway; hit"],
  ])("a body of %s that never comes does not hold its connection", async (of, answer) => {
    const port = await portOf(start({}));
    await exchange(port, get("/v1/evaluationmeasures/list"));
    const client = openConnection(port);
    client.socket.write(`${of} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc`);
    expect(await within(client.closed, 2000)).not.toBe("too late");
    expect(client.text()).toMatch(new RegExp(`^HTTP/1\\.1 ${answer}`));
  });

  test("lets a POST and its answer through, and refuses new connections", async () => {
    const bodies: string[] = [];
    const legacy = await httpUpstream((incoming, response) => {
      let body = "";
      incoming.on("data", (chunk: Buffer) => (body += chunk.toString()));
      incoming.on("end", () => {
        bodies.push(body);
        setTimeout(() => response.end('{"setup_tag":{"id":"1","tag":"a"}}'), 250);
      });
    });
    const program = start({ LEGACY_URL: legacy });
    const port = await portOf(program);
    const client = openConnection(port);
    const body = '{"setup_id":1,"tag":"a"}';
    client.socket.write(
      `POST /v1/setup/tag HTTP/1.1\r\nHost: a\r\nX-API-Key: ${keys.user}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => bodies.length === 1);
    program.child.kill("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 80));
    const refused = await new Promise((resolve) =>
      connect(port, "127.0.0.1")
        .on("error", (error: NodeJS.ErrnoException) => resolve(error.code))
        .on("connect", () => resolve("connected")),
    );
    expect(refused).toBe("ECONNREFUSED");
    expect(await program.ended).toBe(0);
    expect(client.text()).toMatch(/^HTTP\/1\.1 200 OK[^]*\{"setup_tag":\{"id":1,"tag":\["a"\]\}\}$/);
    expect(bodies).toHaveLength(1);
  });

  test("ends at once with 1 at a second signal, a second after the first", async () => {
    const { url, asked } = await silentLegacy();
    const program = start({ LEGACY_URL: url });
    openConnection(await portOf(program)).socket.write(stayingGet("/v1/studies/99"));
    await until(() => asked() === 1);
    program.child.kill("SIGTERM");
    program.child.kill("SIGINT");
    expect(await within(program.ended, 1200)).toBe("too late");
    program.child.kill("SIGINT");
    expect(await within(program.ended, 1000)).toBe(1);
  });

  /** A stop while legacy is silent. */
  const stopped = async () => {
    const { url, asked } = await silentLegacy();
    const program = start({ LEGACY_URL: url, DRAIN_TIMEOUT_MS: "150" });
    const client = openConnection(await portOf(program));
    client.socket.write(stayingGet("/v1/studies/99"));
    await until(() => asked() === 1);
    program.child.kill("SIGTERM");
    return { ...program, client };
  };

  test("cuts the clients off after DRAIN_TIMEOUT_MS, and says so", async () => {
    const { client, output } = await stopped();
    expect(await within(client.closed, 10_000)).not.toBe("too late");
    await until(() => output.error.includes("drain_timeout"));
  });

  test("ends then, whatever legacy still owes", async () => {
    const { ended } = await stopped();
    expect(await within(ended, 10_000)).not.toBe("too late");
  });
});
