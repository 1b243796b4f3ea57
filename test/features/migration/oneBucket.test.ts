import { expect, test } from "vitest";
import { operatorsOf, textOf } from "../console/page/operators.ts";
import { staged } from "./support.ts";

test("a canary whose callers all look like one is named, with the setting to use", async () => {
  const opened = await staged({ getDataset: { stage: "canary", share: 50 } });
  // Callers behind a proxy that is not trusted.
  for (let i = 1; i <= 110; i++)
    await opened.ask("/datasets/1", { "X-Forwarded-For": `192.0.2.${i}`, "User-Agent": "one" });
  expect(opened.observer.counts()).toMatchObject({ untrusted_proxy: 1, "canary_one_bucket getDataset": 1 });
  const { markup } = await operatorsOf(opened);
  const notice = /All 110 requests of the canary getDataset fall into one bucket, .*its share of 50 % moves/;
  expect(textOf(await markup())).toMatch(/set TRUSTED_PROXIES=127\.0\.0\.1 ?, or/);
  expect(textOf(await markup())).toMatch(notice);
  await opened.move("getDataset", { stage: "canary", share: 40 });
  expect(textOf(await markup())).not.toContain("fall into one bucket");
});
