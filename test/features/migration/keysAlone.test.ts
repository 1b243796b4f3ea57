import { describeOldReads } from "../../../src/gateway/oldReads/describeOldReads.ts";
import { expect, test } from "vitest";
import { catalogue } from "../../../transforms/catalogue.ts";
import { headingOf, operatorsOf, textOf } from "../console/page/operators.ts";
import { until } from "../../support/waiting.ts";
import { staged } from "./support.ts";

const everywhere = Object.fromEntries(
  Object.keys(catalogue.endpoints).map((name) => [name, { stage: "modern", share: 0 }] as const),
);
const gone = { path: "/api/v1", from: "2026-01-01T00:00:00Z", status: 410 };
const stages = async (brownouts: object[], moved: Parameters<typeof staged>[0] = everywhere) => {
  const opened = await staged(moved, { environment: { ADMIN_PORT: "0", BROWNOUTS: JSON.stringify(brownouts) } });
  return { ...opened, ...(await operatorsOf(opened)) };
};
const legacyOf = async ({ operate }: Awaited<ReturnType<typeof stages>>) => {
  const { body } = await operate("GET", "/readyz?verbose");
  return (body as { dependencies: { name: string; only?: string }[] }).dependencies.find(
    (dependency) => dependency.name === "legacy",
  );
};

test("with every endpoint in modern and its interface gone, legacy only checks keys", async () => {
  const opened = await stages([gone]);
  expect(await opened.startLine()).toBe("modern answers every endpoint");
  expect(describeOldReads(opened.gateway.core)).toBe(
    "legacy only checks keys: no endpoint needs it, and old clients are answered 410",
  );
  expect(textOf(headingOf(await opened.markup()))).toContain("Modern answers everything; legacy only checks keys");
  expect(await legacyOf(opened)).toMatchObject({ only: "keys" });
});

test("legacy's failure is then a trouble of keys alone", async () => {
  const opened = await stages([gone]);
  await opened.legacy.close();
  const key = { headers: { authorization: `Bearer ${"a".repeat(32)}` } };
  await until(async () => {
    expect((await opened.ask("/datasets/61", key.headers)).status).toBe(503);
    return opened.gateway.core.outage.isOn();
  });
  expect(textOf(headingOf(await opened.markup()))).toMatch(
    /Legacy, which only checks keys, has been failing since \S+ UTC \(.*\): callers with a key .* are answered 503/,
  );
});

test.each<[string, object[], Parameters<typeof staged>[0]]>([
  ["one endpoint is in canary", [gone], { ...everywhere, getDataset: { stage: "canary" } }],
  ["its interface is there", [], everywhere],
  ["its interface is gone for a day", [{ ...gone, until: "2026-01-02T00:00:00Z" }], everywhere],
  ["a part of its interface is gone", [{ ...gone, path: "/api/v1/json" }], everywhere],
  ["its interface will be gone", [{ ...gone, from: "2999-01-01T00:00:00Z" }], everywhere],
])("legacy is needed for more than keys: %s", async (_, brownouts, moved) => {
  expect((await legacyOf(await stages(brownouts, moved)))?.only).toBeUndefined();
});
