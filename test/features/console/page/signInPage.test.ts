import { expect, test } from "vitest";
import { sampleConsole } from "./sampleConsole.ts";
import { sampleData } from "./sampleData.ts";

const guarded = async () => {
  const app = sampleConsole(sampleData, { token: "right" });
  return (path: string, headers: Record<string, string>, method = "GET") =>
    app.request(path, { method, headers: { Host: "127.0.0.1:8001", ...headers } });
};

test("without the token there is a form with the page's headers and no content", async () => {
  const ask = await guarded();
  for (const headers of [{}, { Authorization: "Bearer wrong" }] as Record<string, string>[]) {
    const answer = await ask("/", headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(answer.headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const page = await answer.text();
    expect(page).toContain(`id="sign-in"`);
    expect(page).not.toMatch(/getDataset|Ada|legacy\.example/);
  }
});

test("with the token there is the page", async () => {
  const ask = await guarded();
  const answer = await ask("/", { Authorization: "Bearer right" });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("getDataset")]);
});

test.each<[string, string, Record<string, string>, number]>([
  ["a name that was pointed here", "/", { Host: "evil.example:8001" }, 403],
  ["another path", "/cache", {}, 401],
  ["another path that begins alike", "//", {}, 401],
])("%s gets no form", async (_, path, headers, status) => {
  const ask = await guarded();
  const answer = await ask(path, headers);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([status, "application/json"]);
});

test("a form that is sent to the page is refused", async () => {
  const ask = await guarded();
  const answer = await ask("/", { "Content-Type": "application/x-www-form-urlencoded" }, "POST");
  expect([answer.status, answer.headers.get("content-type")]).toEqual([401, "application/json"]);
});
