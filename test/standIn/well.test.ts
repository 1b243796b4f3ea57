import { expect, test } from "vitest";
import { trafficOf } from "./program/traffic.ts";
import { get, send } from "../proxy/support.ts";
import { eachOf, sidesFor } from "./support.ts";

test("without a fault it answers as the gateway does", async () => {
  const { standIn, expected, given } = await sidesFor();
  const counts: Record<string, number> = {};
  await eachOf(trafficOf(1, 120), async (asked) => {
    expect({ asked, answer: await given(asked) }).toEqual({ asked, answer: await expected(asked) });
    counts[asked.endpoint] = (counts[asked.endpoint] ?? 0) + 1;
  });
  expect(standIn.asked()).toEqual(counts);
  expect(standIn.planted()).toEqual([]);
});

const OWNER = "DA1A0000000000000000000000000000";

test("takes a key in each of its forms", async () => {
  const { standIn } = await sidesFor();
  const status = async (query = "", headers: Record<string, string> = {}) =>
    (await fetch(`${standIn.url}/datasets/16${query}`, { headers })).status;
  expect(await status()).toBe(403);
  expect(await status(`?api_key=${OWNER}`)).toBe(200);
  expect(await status("", { "X-API-Key": OWNER })).toBe(200);
  expect(await status("", { Authorization: `Bearer ${OWNER}` })).toBe(200);
  expect(await status("", { "X-API-Key": "nobody" })).toBe(401);
});

test.each(["/", "/v1", "/modern/v2"])("answers below %s, and what is not there", async (path) => {
  const { standIn, given } = await sidesFor([], path);
  const iris = { endpoint: "getDataset", method: "GET", path: "/datasets/61" } as const;
  expect(standIn.url).toBe(`http://127.0.0.1:${standIn.port}${path === "/" ? "" : path}`);
  expect((await given(iris)).body).toMatchObject({ name: "iris" });
  expect((await fetch(`${standIn.url}/nothing`)).status).toBe(404);
  expect((await fetch(`${standIn.url}/datasets/61`, { method: "DELETE" })).status).toBe(405);
  const head = await fetch(`${standIn.url}/datasets/61`, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect(standIn.asked()).toEqual({ getDataset: 2 });
  standIn.use([]);
  expect(standIn.asked()).toEqual({});
});

test("takes targets as they were sent", async () => {
  const { standIn } = await sidesFor();
  const { head } = await send(standIn.port, get("/v1/studies/../datasets/61"));
  expect(head).toMatch(/^HTTP\/1.1 404 /);
});

test("writes where legacy writes", async () => {
  const { standIn, given, expected } = await sidesFor();
  const headers = { "X-API-Key": OWNER, "Content-Type": "application/json" };
  const body = JSON.stringify({ data_id: 61, tag: "mine" });
  const written = await fetch(`${standIn.url}/datasets/tag`, { method: "POST", headers, body });
  expect(await written.json()).toEqual({ data_tag: { id: 61, tag: ["flowers", "mine", "study_10"] } });
  const iris = { endpoint: "getDataset", method: "GET", path: "/datasets/61" } as const;
  expect(await given(iris)).toEqual(await expected(iris));
});
