import type { ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { ask } from "../../../src/gateway/upstream/ask.ts";
import { UpstreamFailure } from "../../../src/gateway/upstream/failure.ts";
import { openUpstream } from "../../../src/gateway/upstream/upstream.ts";
import { until } from "../../support/waiting.ts";
import { clock } from "../cache/support.ts";
import { httpUpstream } from "../proxy/support.ts";

/** An upstream of four connections whose answers the test writes. A part is the first letter of a path. */
const open = async () => {
  const { pass } = clock();
  const held: { path: string; response: ServerResponse }[] = [];
  const origin = await httpUpstream(({ url: path = "" }, response) => void held.push({ path, response }));
  const times = { connectTimeout: 2000, headersTimeout: 30_000, bodyTimeout: 30_000 };
  const refused: string[] = [];
  const parts = {
    partOf: ({ path }: { path: string }) => path[1] ?? "",
    onRefused: (part: string) => void refused.push(part),
  };
  const upstream = openUpstream({ origin, connections: 4, waiting: 10, ...times, parts });
  onTestFinished(() => upstream.pool.destroy());
  const results: string[] = [];
  const get = (path: string, method = "GET") => {
    const bounds = { maxBytes: 100, totalTimeout: 60_000 };
    const sent = ask(upstream, { method, path, headers: {}, ...bounds, ...(method === "POST" && { body: "x" }) });
    void sent.then(
      () => results.push(`${path} answered`),
      (error: unknown) => results.push(`${path} ${error instanceof UpstreamFailure ? error.kind : String(error)}`),
    );
  };
  const arrived = (...paths: string[]) =>
    until(() => paths.every((path) => held.some((request) => request.path === path)));
  const answer = (path: string) => held.find((request) => request.path === path)?.response.end();
  return { pass, get, arrived, answer, results, refused };
};

test("a part that hangs holds half of the connections, and other parts are answered", async () => {
  const { pass, get, arrived, answer, results, refused } = await open();
  for (const path of ["/a1", "/a2", "/a3", "/a4"]) get(path);
  await arrived("/a1", "/a4");
  pass(4000);
  get("/a5");
  get("/b1");
  await Promise.resolve();
  expect(results).toEqual([]);
  pass(1000);
  get("/a6");
  await arrived("/b1");
  answer("/b1");
  await until(() => results.length === 5);
  // The last two that hang, the request that waits and the new request are refused.
  expect(results.toSorted()).toEqual([
    "/a3 overloaded",
    "/a4 overloaded",
    "/a5 overloaded",
    "/a6 overloaded",
    "/b1 answered",
  ]);
  expect(new Set(refused)).toEqual(new Set(["a"]));
});

test("a part that answers holds all connections, however slowly", async () => {
  const { pass, get, arrived, answer, results } = await open();
  for (const path of ["/a1", "/a2", "/a3", "/a4"]) get(path);
  await arrived("/a4");
  pass(4000);
  answer("/a1");
  await until(() => results.length === 1);
  pass(4000);
  get("/a5");
  await arrived("/a5");
  get("/a6");
  for (const path of ["/a2", "/a3", "/a4", "/a5"]) answer(path);
  await arrived("/a6");
  answer("/a6");
  await until(() => results.length === 6);
  expect(new Set(results.map((result) => result.split(" ")[1]))).toEqual(new Set(["answered"]));
});

test("a write of a part that hangs is not given up once it is sent", async () => {
  const { pass, get, arrived, answer, results } = await open();
  for (const path of ["/a1", "/a2", "/a3", "/a4"]) get(path, "POST");
  await arrived("/a4");
  pass(5000);
  get("/a5", "POST");
  await until(() => results.length === 1);
  expect(results).toEqual(["/a5 overloaded"]);
  for (const path of ["/a1", "/a2", "/a3", "/a4"]) answer(path);
  await until(() => results.length === 5);
  // It answers again.
  get("/a6", "POST");
  await arrived("/a6");
  answer("/a6");
  await until(() => results.length === 6);
});
