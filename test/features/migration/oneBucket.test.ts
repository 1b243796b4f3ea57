import { expect, test } from "vitest";
import { textOf } from "../console/page/operators.ts";
import { consoleFor } from "../console/consoleFor.ts";
import { staged } from "./support.ts";

/** 110 callers ask through a proxy at 127.0.0.1, which names them. */
const askedThrough = async (environment: Record<string, string>) => {
  const opened = await staged({ getDataset: { stage: "canary", share: 50 } }, { environment });
  const sides = new Set<string | undefined>();
  for (let i = 1; i <= 110; i++) {
    const named = { "X-Forwarded-For": `192.0.2.${i}`, "User-Agent": "one" };
    sides.add(/backend=(\w+)/.exec((await opened.ask("/datasets/1", named)).decision)?.[1]);
  }
  const app = consoleFor(opened.gateway, { address: `http://127.0.0.1:${opened.port}/v1` });
  const page = await (await app.request("http://127.0.0.1/", { headers: { host: "127.0.0.1" } })).text();
  const notices = Array.from(page.matchAll(/<p class="notice"[^>]*>([^]*?)<\/p>/g), ([, text = ""]) =>
    textOf(text).trim(),
  );
  return { sides, notices, counts: opened.observer.counts() };
};

test("a proxy that is not trusted is named with the setting to use", async () => {
  const { sides, notices, counts } = await askedThrough({});
  expect([sides.size, counts]).toEqual([
    1,
    expect.objectContaining({ untrusted_proxy: 1, "canary_one_bucket getDataset": 1 }),
  ]);
  expect(notices).toEqual([
    expect.stringMatching(
      /^127\.0\.0\.1 sent forwarded headers in \d+ requests, .*set TRUSTED_PROXIES=127\.0\.0\.1 ?, or/,
    ),
    expect.stringMatching(/^All \d+ requests of the canary getDataset fall into one bucket, .*its share of 50 % moves/),
  ]);
});

test("behind a trusted proxy a share of the callers is served by modern", async () => {
  const { sides, notices, counts } = await askedThrough({ TRUSTED_PROXIES: "127.0.0.1" });
  expect([sides, notices]).toEqual([new Set(["legacy", "modern"]), []]);
  expect(Object.keys(counts).join(" ")).not.toMatch(/untrusted_proxy|canary_one_bucket/);
});
