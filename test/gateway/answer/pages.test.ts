import { expect, test, vi } from "vitest";
import { gatewayFor } from "../../support/gateway.ts";
import { recordingUpstream } from "../http/support.ts";
import { keys } from "./support.ts";

const page = "<!doctype html><title>No</title>";

test.each<[status: number, retryAfter: string | undefined, body: string, expected: number, after: RegExp]>([
  [503, "120", page, 503, /^120$/],
  [503, undefined, page, 503, /^5$/],
  [503, "7", "Busy", 503, /^7$/],
  [503, "7", '{"message":"no healthy upstream"}', 503, /^7$/],
  [429, "60", page, 503, /^60$/],
  [429, "60", "", 503, /^60$/],
  [502, "60", page, 502, /^$/],
  [504, undefined, page, 502, /^$/],
  [404, undefined, page, 502, /^$/],
  [200, undefined, `\n ${page}`, 502, /^$/],
])("%i with Retry-After %s and %j is asked for once, and is %i", async (status, retryAfter, body, expected, after) => {
  const headers = { "Content-Type": "text/html", ...(retryAfter === undefined ? {} : { "Retry-After": retryAfter }) };
  const { url, seen } = await recordingUpstream(() => ({ status, body, headers }));
  const { app } = await gatewayFor(url);
  const answer = await app.request("/v1/datasets/61");
  expect([answer.status, seen.length]).toEqual([expected, 1]);
  expect(answer.headers.get("Retry-After") ?? "").toMatch(after);
});

test("PHP's notices are no page: the other form is asked for, with the same key", async () => {
  const { url, seen } = await recordingUpstream(() => ({
    body: '<div style="border:1px solid #990000;">A PHP Error</div>',
  }));
  const { app } = await gatewayFor(url);
  expect((await app.request("/v1/datasets/61", { headers: { "X-API-Key": keys.unknown } })).status).toBe(502);
  const read = seen.filter(({ target }) => target.includes("/data/61")).map(({ target }) => target);
  expect(read).toEqual(["json", "xml"].map((form) => `/api/v1/${form}/data/61?api_key=${keys.unknown}`));
});

test("the log has a page's first words, without the key that it echoes", async () => {
  const moved = `<h1>Moved</h1><p>to /api/v1/json/data/61?api_key=${keys.unknown} by ${keys.unknown}</p>`;
  const { url } = await recordingUpstream(() => ({
    status: 301,
    body: moved,
    headers: { "Content-Type": "text/html" },
  }));
  const { app, core } = await gatewayFor(url);
  const event = vi.spyOn(core.observer, "event");
  await app.request("/v1/datasets/61", { headers: { "X-API-Key": keys.unknown } });
  expect(event.mock.calls.map(([name]) => name)).toEqual(["legacy_ill"]);
  const about = { endpoint: "getDataset", status: 301, type: "text/html", judgement: "ill" };
  expect(event.mock.calls[0]?.[1]).toMatchObject(about);
  const words = event.mock.calls[0]?.[1]?.["words"];
  expect(words).toMatch(/^Moved to .{1,51}$/);
  expect(words).not.toMatch(new RegExp(keys.unknown, "i"));
});

test("one caller's limit is no failure for others: they are served nothing stale", async () => {
  let version = 1;
  const { url, seen } = await recordingUpstream(({ headers }) =>
    String(headers["user-agent"]).startsWith("limited")
      ? { status: 429, body: page, headers: { "Content-Type": "text/html", "Retry-After": "60" } }
      : { body: `{"data_set_description":{"id":"61","name":"v${version}","format":"arff"}}` },
  );
  const { app, core } = await gatewayFor(url);
  const ask = async (agent: string) => {
    const answer = await app.request("/v1/datasets/61", { headers: { "User-Agent": agent } });
    return [answer.status, await answer.text()];
  };
  const limited = [503, expect.stringContaining("detail")];
  expect(await ask("limited")).toEqual(limited);
  expect(await ask("other")).toEqual([200, expect.stringContaining('"v1"')]);
  version = 2;
  await core.cache.invalidate({ groups: ["dataset/61"], soft: true, hold: 1 });
  expect(await ask("limited")).toEqual([200, expect.stringContaining('"v1"')]);
  expect(await ask("other")).toEqual([200, expect.stringContaining('"v2"')]);

  await core.cache.invalidate({ all: true });
  const asked = seen.length;
  const agents = ["limited", "limited", "other", "other"];
  const answers = await Promise.all(agents.map(ask));
  expect(answers.map(([status]) => status)).toEqual([503, 503, 200, 200]);
  expect(seen.length - asked).toBeLessThanOrEqual(agents.length);
});
