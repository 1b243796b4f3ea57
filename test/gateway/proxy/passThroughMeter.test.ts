import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { listeningGateway } from "../http/support.ts";
import { until } from "../../support/waiting.ts";
import { get, httpUpstream, rawUpstream, request, send } from "./support.ts";

/** A gateway before this upstream, and a look at its metrics: `pass_through_requests_total status=200`. */
const metered = async (url: string) => {
  const { port, core } = await listeningGateway(url);
  const valueOf = async (text: string): Promise<number | undefined> => {
    const [name = "", label = "="] = text.split(" ");
    const [key = "", value = ""] = label.split("=");
    const families = await core.meter.read();
    const samples = families.flatMap(({ name: of, values }) => values.map((sample) => ({ metricName: of, ...sample })));
    return samples.find(
      ({ metricName, labels }) =>
        metricName === `catalog_gateway_${name}` && (key === "" || String(labels[key]) === value),
    )?.value;
  };
  return { port, core, valueOf };
};

test("a proxied request counts its status, its time, and its bytes both ways", async () => {
  const url = await httpUpstream((incoming, response) => {
    incoming.resume().on("end", () => response.writeHead(201).end("a".repeat(3000)));
  });
  const { port, valueOf } = await metered(url);
  const body = "b".repeat(70_000);
  expect((await send(port, request("POST /x", `Content-Length: ${body.length}`), body)).head).toMatch(/^HTTP\/1.1 201/);
  await until(async () => (await valueOf("pass_through_duration_seconds_count")) === 1);
  expect([
    await valueOf("pass_through_requests_total status=201"),
    await valueOf("pass_through_bytes_total direction=request"),
    await valueOf("pass_through_bytes_total direction=response"),
  ]).toEqual([1, 70_000, 3000]);
  expect(await valueOf("pass_through_duration_seconds_sum")).toBeGreaterThan(0);
});

test("a proxied request without an answer counts as a failure with its reason", async () => {
  const { port, valueOf, core } = await metered("http://127.0.0.1:9");
  expect((await send(port, get("/x"))).head).toMatch(/^HTTP\/1.1 502/);
  expect([
    await valueOf("pass_through_failures_total reason=unreachable"),
    await valueOf("pass_through_failures_total reason=timeout"),
    await valueOf("pass_through_duration_seconds_count"),
  ]).toEqual([1, 0, 1]);
  const legacy = core.dependencies.states().find(({ name }) => name === "legacy");
  expect(legacy).toMatchObject({ state: "failed", why: "it cannot be reached" });
  expect(await valueOf("dependency_up dependency=legacy")).toBe(0);
});

test("odd statuses of legacy are one series", async () => {
  let status = 598;
  const { origin } = await rawUpstream((socket) => socket.end(`HTTP/1.1 ${status++} X\r\nContent-Length: 0\r\n\r\n`));
  const { port, valueOf } = await metered(origin);
  for (let i = 0; i < 4; i++) await send(port, get("/x"));
  expect(await valueOf("pass_through_requests_total status=other")).toBe(4);
  expect(await valueOf("pass_through_requests_total status=598")).toBeUndefined();
});

test("a request is in flight until its answer is out or its client has left", async () => {
  const answers: (() => void)[] = [];
  const url = await httpUpstream((_, response) => void answers.push(() => response.end("done")));
  const { port, valueOf } = await metered(url);
  const flying = () => valueOf("requests_in_flight");
  expect(await flying()).toBe(0);
  const waiting = send(port, get("/x"));
  const leaving = connect(port, "127.0.0.1");
  onTestFinished(() => void leaving.destroy());
  leaving.write(get("/y"));
  await until(() => answers.length === 2);
  expect(await flying()).toBe(2);
  leaving.destroy();
  await until(async () => (await flying()) === 1);
  for (const answer of answers) answer();
  await waiting;
  await until(async () => (await flying()) === 0);
});
