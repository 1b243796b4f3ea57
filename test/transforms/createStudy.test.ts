import { expect, test } from "vitest";
import { recordingUpstream } from "../gateway/http/support.ts";
import { keys } from "../gateway/answer/support.ts";
import { gatewayFor } from "../support/gateway.ts";
import type { Field } from "../../src/catalogue/endpoint/field.ts";
import { createStudy } from "../../transforms/createStudy.ts";
import { endpoints } from "../../transforms/index.ts";

const alias = createStudy.input["alias"] as Field<unknown>;

/** The fixed words of paths that stand in the place of a study's alias. */
const words = new Set(
  Object.values(endpoints)
    .flatMap(({ routes }) => routes)
    .flatMap((route) => /^\w+ \/stud(?:y|ies)\/(\w+)(?:\/|$)/.exec(route)?.[1] ?? []),
);

test("a study's alias that is a word of a path or a number is refused", () => {
  expect(words.size).toBeGreaterThan(0);
  const isRefused = (word: string) => !alias.fromJson(word).ok;
  const refused = [...words, "7", "007", "-1", "1.5", "1.", ".5", "1e3", "1E-3"];
  expect(refused.filter(isRefused)).toEqual(refused);
  expect(
    ["1.2.3", "2024.01.01", "...", "OpenML100", "lists", "List", "1a", "e3", "a-1", "-", "1e"].filter(isRefused),
  ).toEqual([]);
});

test.each([
  [
    "an unknown one of the first 600 is named",
    599,
    422,
    [{ loc: ["body", "tasks", 599], msg: "there is no task 599" }],
  ],
  ["one behind them is not found", 601, 502, { code: "1039" }],
])("of a new study's ten thousand tasks %s", async (_, unknown, status, detail) => {
  const legacy = await recordingUpstream(({ method, target }) => {
    if (method === "POST") return { status: 412, body: '{"error":{"code":"1039","message":"no"}}' };
    const ids = /\/task_id\/([\d,]+)/.exec(target)?.[1]?.split(",").map(Number) ?? [];
    const task = ids
      .filter((id) => id !== unknown)
      .map((id) => ({ task_id: id, task_type_id: 1, did: 1, format: "ARFF" }));
    return { body: JSON.stringify({ tasks: { task } }) };
  });
  const { app } = await gatewayFor(legacy.url);
  // The first task twice.
  const tasks = [1, ...Array.from({ length: 9999 }, (_one, i) => i + 1)];
  const response = await app.request("/v1/studies", {
    method: "POST",
    headers: { "X-API-Key": keys.user, "Content-Type": "application/json" },
    body: JSON.stringify({ name: "a", main_entity_type: "task", description: "a", tasks }),
  });
  expect([response.status, await response.json()]).toMatchObject([status, { detail }]);
});
