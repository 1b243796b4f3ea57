import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gatewayFor, type TestGateway } from "../../support/gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await gatewayFor("http://127.0.0.1:1");
});
afterAll(() => gateway.close());

const list = async (body: string) => {
  const response = await gateway.app.request("/v1/datasets/list", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
  });
  const text = await response.text();
  const { detail } = JSON.parse(text) as { detail: { loc: (string | number)[]; msg: string; type: string }[] };
  return { status: response.status, bytes: Buffer.byteLength(text), detail };
};

const unknown = (count: number, name = (i: number) => `f${i}`): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [name(i), 1])));

describe("a 422", () => {
  test.each([1, 99, 100])("a 422 lists %i errors, each of them", async (count) => {
    const { status, detail } = await list(unknown(count));
    expect([status, detail.length]).toEqual([422, count]);
    expect(detail.every(({ type }) => type === "value_error.extra")).toBe(true);
  });

  test.each([101, 1100, 8000])(
    "a 422 of %i errors lists a hundred, and says how many more there are",
    async (count) => {
      const { status, detail, bytes } = await list(unknown(count));
      expect([status, detail.length]).toEqual([422, 101]);
      expect(detail.at(-1)).toEqual({ loc: ["body"], msg: `and ${count - 100} more`, type: "value_error.more" });
      expect(bytes).toBeLessThan(100_000);
    },
  );

  test.each([
    ["the members of a group", `{"pagination":${unknown(5000)},"a":1}`, "and 4901 more"],
    ["the wrong entries of a list", JSON.stringify({ data_id: Array(1000).fill("x"), other: 1 }), "and 901 more"],
  ])("a 422 counts %s, too", async (_, body, msg) => {
    const { detail } = await list(body);
    expect([detail.length, detail.at(-1)]).toMatchObject([101, { msg }]);
  });

  test.each([
    ["long names", (i: number) => `${"n".repeat(700)}${i}`],
    ["names that JSON escapes", (i: number) => `\u0001`.repeat(120) + i],
    ["emoji", (i: number) => `x${"😀".repeat(180)}${i}`],
  ])("a 422 stays below 100 KB with %s, and cuts no character in two", async (_, name) => {
    const { detail, bytes } = await list(unknown(150, name));
    expect(bytes).toBeLessThan(100_000);
    for (const { loc } of detail) {
      const [, shown = ""] = loc as string[];
      expect(shown.length).toBeLessThanOrEqual(64);
      expect(shown.isWellFormed()).toBe(true);
    }
  });
});
