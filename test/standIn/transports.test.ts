import { connect } from "node:net";
import { expect, test } from "vitest";
import type { Fault } from "./program/fault.ts";
import { get, send } from "../proxy/support.ts";
import { sidesFor } from "./support.ts";

const asked = (id: number | string = 61): string => get(`/v1/datasets/${id}`);
const all = (fault: Fault["fault"], more: Partial<Fault> = {}): Fault => ({ endpoint: "getDataset", fault, ...more });
const bodyLength = async (port: number): Promise<number> => (await send(port, asked())).body.length;

/** What comes on one connection, with the milliseconds at which each piece came. */
const timed = (port: number): Promise<number[]> =>
  new Promise((resolve) => {
    const start = performance.now();
    const at: number[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(asked()));
    socket.on("data", () => at.push(performance.now() - start));
    socket.on("close", () => resolve(at));
  });

test("late waits, then answers as it should", async () => {
  const { standIn } = await sidesFor();
  const right = await bodyLength(standIn.port);
  standIn.use([all("late", { ms: 200 })]);
  const [first = 0] = await timed(standIn.port);
  expect(first).toBeGreaterThanOrEqual(190);
  expect(await bodyLength(standIn.port)).toBe(right);
  expect(standIn.planted()).toEqual([
    { endpoint: "getDataset", faults: ["late"], as: "noDocument", questions: 1, answers: 2 },
  ]);
});

test("dripping sends a byte every so often, and comes to its end", async () => {
  const { standIn } = await sidesFor([all("dripping", { ms: 1 })]);
  const { head, body } = await send(standIn.port, get("/v1/datasets/1000000"));
  expect(head).toContain(`Content-Length: ${body.length}`);
  expect(JSON.parse(body)).toEqual({ detail: { code: "111", message: "Unknown dataset" } });
  const at = await timed(standIn.port);
  expect(at.length).toBeGreaterThan(50);
  expect((at.at(-1) as number) - (at[0] as number)).toBeGreaterThan(400);
});

test("halfBody promises more than comes, or never ends", async () => {
  const { standIn } = await sidesFor();
  const ways = [];
  for (const id of [61, 31, 24, 37]) {
    standIn.use([]);
    const { length } = (await send(standIn.port, asked(id))).body;
    standIn.use([all("halfBody")]);
    const { head, body, reset } = await send(standIn.port, asked(id));
    expect([head.split("\r\n")[0], reset]).toEqual(["HTTP/1.1 200 OK", false]);
    const promised = /^content-length: (\d+)/im.exec(head)?.[1];
    const chunk = /^([0-9a-f]+)\r\n([^]*)\r\n$/.exec(body);
    const isChunked = /^transfer-encoding: chunked/im.test(head);
    // A chunk is followed by another one, or by one of no length.
    const came = isChunked
      ? [Number.parseInt(chunk?.[1] ?? "", 16), chunk?.[2]?.length]
      : [Number(promised), body.length];
    expect(came).toEqual([isChunked ? length >> 1 : length, length >> 1]);
    ways.push(isChunked);
    await expect(fetch(`${standIn.url}/datasets/${id}`).then((one) => one.text())).rejects.toThrow("terminated");
  }
  expect(new Set(ways).size).toBe(2);
});

test("down closes at once: all connections, or one endpoint's requests", async () => {
  const { standIn } = await sidesFor([all("down")]);
  expect(await send(standIn.port, asked())).toEqual({ head: "", body: "", text: "", reset: true });
  expect((await send(standIn.port, get("/v1/setup/1"))).head).toMatch(/^HTTP\/1.1 200 /);
  expect(standIn.planted()).toEqual([
    { endpoint: "getDataset", faults: ["down"], as: "noDocument", questions: 1, answers: 1 },
  ]);
  standIn.use([{ endpoint: "*", fault: "down" }]);
  const silent = await send(standIn.port);
  expect([silent.text, silent.reset]).toEqual(["", true]);
  await expect(fetch(`${standIn.url}/setup/1`)).rejects.toThrow("fetch failed");
  standIn.use([]);
  expect((await fetch(`${standIn.url}/setup/1`)).status).toBe(200);
});

test("html is a page, a redirect leads elsewhere", async () => {
  const { standIn } = await sidesFor([all("html"), { endpoint: "getSetup", fault: "redirect" }]);
  const page = await fetch(`${standIn.url}/datasets/61`);
  expect([page.status, page.headers.get("content-type"), (await page.text()).slice(0, 15)]).toEqual([
    200,
    "text/html; charset=utf-8",
    "<!DOCTYPE html>",
  ]);
  const redirect = await fetch(`${standIn.url}/setup/1`, { redirect: "manual" });
  expect([redirect.status, redirect.headers.get("location"), await redirect.text()]).toEqual([302, "/elsewhere", ""]);
  standIn.use([all("html", { status: 502 })]);
  expect((await fetch(`${standIn.url}/datasets/61`)).status).toBe(502);
});

test("clients that leave or stay do not hold up its end", async () => {
  const { standIn } = await sidesFor([{ endpoint: "*", fault: "late", ms: 60_000 }]);
  const left = new AbortController();
  const waiting = [
    fetch(`${standIn.url}/datasets/61`, { signal: left.signal }),
    fetch(`${standIn.url}/datasets/31`),
  ].map((one) => one.catch(() => "gone"));
  await expect.poll(() => standIn.asked(), { timeout: 5000 }).toEqual({ getDataset: 2 });
  left.abort();
  await standIn.close();
  expect(await Promise.all(waiting)).toEqual(["gone", "gone"]);
});
