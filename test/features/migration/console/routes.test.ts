import { expect, test } from "vitest";
import { operated } from "../../console/operated.ts";

test("the value of an expected difference is a scalar", async () => {
  const { adminPort } = await operated();
  const entry = { endpoint: "getDataset", path: "/name", reason: "known", owner: "us", until: "2999-01-01" };
  const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;
  for (const [candidate, status] of [
    [deep, 422],
    ["[]", 422],
    ['""', 200],
    ["null", 200],
  ] as const) {
    const body = JSON.stringify({ ...entry, candidate: "HERE" }).replace('"HERE"', candidate);
    const headers = { Connection: "close", "Content-Type": "application/json" };
    const response = await fetch(`http://127.0.0.1:${adminPort}/expected`, { method: "POST", headers, body });
    expect(response.status).toBe(status);
  }
});

test("a link of an expected difference has to lead to a page", async () => {
  const { adminPort } = await operated();
  const entry = { endpoint: "getDataset", path: "/name", reason: "known", owner: "us", until: "2999-01-01" };
  const expectIt = async (link: string) => {
    const response = await fetch(`http://127.0.0.1:${adminPort}/expected`, {
      method: "POST",
      headers: { Connection: "close", "Content-Type": "application/json" },
      body: JSON.stringify({ ...entry, link }),
    });
    return [response.status, JSON.stringify(await response.json())];
  };
  for (const link of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "//evil.example",
    "ftp://x.example",
    "issue 12",
    "",
  ])
    expect(await expectIt(link)).toEqual([422, expect.stringContaining("a link begins with https:// or http://")]);
  for (const link of ["https://issues.example/12", "http://issues.example/12"])
    expect((await expectIt(link))[0]).toBe(200);
});
