import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { get, httpUpstream } from "../proxy/support.ts";
import { exchange, keys, openConnection, start, within } from "./support.ts";
import { until } from "../../support/waiting.ts";

/** Milliseconds for which no test waits: what lasts so long fails its test. */
const LONG = "3600000";

/** A legacy that never answers. */
const silentLegacy = async () => {
  let asked = 0;
  const url = await httpUpstream(() => void asked++);
  return { url, asked: () => asked };
};
const stayingGet = (path: string) => get(path).replace("Connection: close", "Accept: */*");
const portOf = async ({ listening }: ReturnType<typeof start>) => Number(new URL(await listening()).port);

/** "connected", or the code of the error. */
const connectTo = (port: number) =>
  new Promise<string | undefined>((resolve) => {
    const socket = connect(port, "127.0.0.1")
      .on("error", (error: NodeJS.ErrnoException) => resolve(error.code))
      .on("connect", () => {
        resolve("connected");
        socket.destroy();
      });
  });

describe("the delay of a stop", () => {
  test("during the delay of a stop each request is answered, and its connection closed", async () => {
    const program = start({ DRAIN_DELAY_MS: LONG });
    const port = await portOf(program);
    const operators = /operators: (\S+)/.exec(program.output.out)?.[1];
    const probe = async (path: string) => (await fetch(`${operators}${path}`)).status;
    const [used, unused] = [openConnection(port), openConnection(port)];
    used.socket.write(stayingGet("/v1/evaluationmeasures/list"));
    await until(() => used.text().includes("]"));
    expect(await probe("/readyz")).toBe(200);
    program.child.kill("SIGTERM");
    await until(() => program.output.error.includes('"stopping"'));
    expect([await probe("/healthz"), await probe("/readyz")]).toEqual([200, 503]);

    used.socket.write(stayingGet("/v1/evaluationmeasures/list"));
    await used.closed;
    expect(used.text()).toMatch(/]HTTP\/1\.1 200 OK[^]*connection: close/i);
    const answerTo = async (path: string) => {
      const { status, headers } = await exchange(port, stayingGet(path));
      return `${status} ${headers.get("connection")}`;
    };
    for (let i = 0; i < 20; i++) {
      expect(await answerTo("/v1/evaluationmeasures/list")).toBe("200 close");
      expect(await answerTo("/v1/datasets/61?api_key=x")).toBe("401 close");
      expect(await answerTo("/api/v1/json/data/61")).toBe("200 close");
    }
    // It was open before, and asks late.
    unused.socket.write(stayingGet("/v1/evaluationmeasures/list"));
    await unused.closed;
    expect(unused.text()).toMatch(/^HTTP\/1\.1 200 OK[^]*connection: close/i);
    program.child.kill("SIGINT");
    expect(await program.ended).toBe(0);
  });
});

describe("a stop", () => {
  test("a stop by SIGINT does not wait for the delay, nor for idle connections", async () => {
    const program = start({ DRAIN_DELAY_MS: LONG });
    const port = await portOf(program);
    const [used, unused] = [openConnection(port), openConnection(port)];
    used.socket.write(stayingGet("/v1/evaluationmeasures/list"));
    await until(() => used.text().includes("]"));
    expect(used.text()).not.toMatch(/connection: close/i);
    program.child.kill("SIGINT");
    expect(await program.ended).toBe(0);
    await Promise.all([used.closed, unused.closed]);
  });

  test.each(["POST /v1/nothing", "PUT /v1/datasets/list"])(
    "a stop does not wait for the rest of a body of %s",
    async (of) => {
      const program = start({ DRAIN_DELAY_MS: "100", DRAIN_TIMEOUT_MS: LONG });
      const client = openConnection(await portOf(program));
      client.socket.write(`${of} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc`);
      await until(() => client.text().includes("HTTP/1.1 40"));
      program.child.kill("SIGTERM");
      expect(await program.ended).toBe(0);
    },
  );

  test.each([
    ["POST /v1/nothing", "404"],
    ["GET /v1/evaluationmeasures/list", "200 OK[^]*: catalog-gateway; hit"],
  ])("a body of %s that never comes does not hold its connection", async (of, answer) => {
    const port = await portOf(start({}));
    await exchange(port, get("/v1/evaluationmeasures/list"));
    const client = openConnection(port);
    client.socket.write(`${of} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc`);
    await client.closed;
    expect(client.text()).toMatch(new RegExp(`^HTTP/1\\.1 ${answer}`));
  });

  test("a stop lets a POST and its answer through, and refuses new connections", async () => {
    const bodies: string[] = [];
    let answer = () => {};
    const legacy = await httpUpstream((incoming, response) => {
      let body = "";
      incoming.on("data", (chunk: Buffer) => (body += chunk.toString()));
      incoming.on("end", () => {
        bodies.push(body);
        answer = () => response.end('{"setup_tag":{"id":"1","tag":"a"}}');
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
    await until(async () => (await connectTo(port)) === "ECONNREFUSED");
    answer();
    expect(await program.ended).toBe(0);
    expect(client.text()).toMatch(/^HTTP\/1\.1 200 OK[^]*\{"setup_tag":\{"id":1,"tag":\["a"\]\}\}$/);
    expect(bodies).toHaveLength(1);
  });

  test("a SIGINT skips the delay; a signal a second later ends the program with 1", async () => {
    const { url, asked } = await silentLegacy();
    const program = start({ LEGACY_URL: url, DRAIN_DELAY_MS: LONG });
    const port = await portOf(program);
    openConnection(port).socket.write(stayingGet("/v1/studies/99"));
    await until(() => asked() === 1);
    program.child.kill("SIGTERM");
    expect(await within(program.ended, 1200)).toBe("too late");
    program.child.kill("SIGINT");
    await until(async () => (await connectTo(port)) === "ECONNREFUSED");
    expect(await within(program.ended, 1200)).toBe("too late");
    program.child.kill("SIGINT");
    expect(await program.ended).toBe(1);
  });

  test("a stop cuts the clients off after DRAIN_TIMEOUT_MS, and says so", async () => {
    const { url, asked } = await silentLegacy();
    const program = start({ LEGACY_URL: url, DRAIN_TIMEOUT_MS: "150" });
    const client = openConnection(await portOf(program));
    client.socket.write(stayingGet("/v1/studies/99"));
    await until(() => asked() === 1);
    program.child.kill("SIGTERM");
    await client.closed;
    await program.ended;
    expect(program.output.error).toContain("drain_timeout");
  });
});
