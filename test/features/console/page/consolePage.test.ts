import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { cachedGateway, tierWith } from "../../../gateway/cache/support.ts";
import { httpUpstream } from "../../../gateway/proxy/support.ts";
import { gatewayFor } from "../../../support/gateway.ts";
import { hostileTexts } from "../../../support/hostileText.ts";
import { describeWithRedis, startRedis } from "../../../libraries/stores/redis/redisServer.ts";
import { until } from "../../../support/waiting.ts";
import { staged, wrongType } from "../../migration/support.ts";
import { address, headOf, markupOf, operatorsOf, shown, textOf, trafficOf, underWay } from "./operators.ts";

const sectionsOf = (page: string) => [...page.matchAll(/<section id="([^"]+)"/g)].map(([, id]) => id);
/** The folded sections, which have nothing to show. */
const emptyOf = (page: string) =>
  [...page.matchAll(/<section id="([^"]+)"[^>]*>\s*<details data-key="empty"/g)].map(([, id]) => id);
/** The rows of endpoints: name, stage, share, and the numbers of compared and unexplained requests. */
const stagesOf = (page: string) =>
  shown(page, "compared").map(({ text = "", stage, share, compared, unexplained }) =>
    [text.split(" ")[0], stage, share, compared, unexplained].join(" "),
  );
const verdictText = (page: string) => shown(page, "verdict")[0]?.["text"];
const troubleText = (page: string, name: string) =>
  shown(page, "trouble").find(({ trouble }) => trouble === name)?.["text"];

test("without a script the page has its sections in order, with their values", async () => {
  const { markup, legacy, modern } = await underWay();
  const page = await markup();
  expect(sectionsOf(page)).toEqual("traffic stages differences audit clients ledger cache private-rows".split(" "));
  expect(emptyOf(page)).toEqual([]);
  expect(headOf(page)).toEqual({
    verdict: "unharmed",
    lights: { Legacy: "ok", Modern: "ok" },
    troubles: { "differs getDataset": "now", "differs listDatasets": "now" },
    figures: [5, 0],
  });
  expect(trafficOf(page).filter(([name]) => name === "whole")).toEqual([
    ["whole", "4", "0 %", "0"],
    ["whole", "1", "–", "0"],
  ]);
  expect(stagesOf(page).filter((row) => !row.endsWith("legacy 100 0 0"))).toEqual([
    "getDataset shadow 100 1 1",
    "listDatasets shadow 100 1 1",
    "getSetup shadow 20 0 0",
    "getStudy modern 100 1 0",
  ]);
  expect(shown(page, "path").map(({ kind, endpoint, path }) => [kind, endpoint, path].join(" "))).toEqual([
    "unexplained getDataset /version",
    "unexplained listDatasets /*/quality/*",
    "expected getDataset /licence",
    "drift getStudy /name",
    "explained getDataset /tag",
  ]);
  expect(
    shown(page, "side")
      .slice(0, 3)
      .map(({ side, text }) => [side, text]),
  ).toEqual([
    ["Legacy", '"1"'],
    ["Expected", "1"],
    ["Modern", '" 1 "'],
  ]);
  const text = textOf(page);
  // These texts are given by the test, by legacy or by modern.
  for (const given of [
    `At ${address} `,
    `legacy at ${legacy.url} , modern at ${modern.url} `,
    "by Ada first look",
    "/api/v1/json/data/{id} 1 caller 1 by nobody with sample-client/0.14.2 (Python 3.12),",
    "no-licence missing Licences come later. https://issues.example/12 Grace until 2999-01-01",
    "getDataset 10m 1h 7d 60s 15s",
  ])
    expect(text).toContain(given);
  const [back] = shown(page, "all");
  expect(back).toMatchObject({
    all: "legacy",
    will: expect.stringMatching(/\ngetDataset: [^]*\ngetStudy: /) as string,
  });
});

test("controls have labels, links have targets, drawings have names or are hidden", async () => {
  const page = await (await underWay()).markup();
  expect(page).toMatch(/viewBox="0 0 30 36"[^>]*>\s*<path class="all" d="M29 36v-36h1v36z"/);
  for (const [svg] of markupOf(page).matchAll(/<svg[^>]*>/g))
    expect(svg).toMatch(/role="img"\s+aria-label="[^"]+"|aria-hidden/);
  const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [, id] of page.matchAll(/<(?:select|input|textarea)\s+id="([^"]+)"/g))
    expect(page).toContain(`<label for="${id}">`);
  for (const [, id] of page.matchAll(/href="#([^"=]+)"/g)) expect(ids).toContain(id);
  expect(page).not.toMatch(/<th(?![^>]*scope=)[\s>]/);
});

test("the policy allows our own style and scripts alone, and no frame", async () => {
  const { app } = await operatorsOf({ gateway: await gatewayFor("http://127.0.0.1:1") });
  const answer = await app.request("/", { headers: { Host: "127.0.0.1" } });
  const policy = answer.headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(/^default-src 'none'; script-src '/);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  const page = await answer.text();
  const inline = [...page.matchAll(/<(style|script)[^>]*>([\s\S]*?)<\/\1>/g)];
  expect(inline.length).toBe(2);
  for (const [, name, text = ""] of inline) {
    const directive = policy.split("; ").find((part) => part.startsWith(`${name}-src`));
    expect(directive).toContain(`'sha256-${hash("sha256", text, "base64")}'`);
  }
  expect([answer.headers.get("referrer-policy"), answer.headers.get("cache-control")]).toEqual([
    "no-referrer",
    "no-store",
  ]);
  expect(page).not.toMatch(/\ssrc=|@import|url\(|\sstyle=/);
});

/** A tag as our templates write them: attributes in double quotes, no handler, no style. */
const tag = /<(\/?[a-z]\w*)((?:\s+(?!on|style)[a-zA-Z][\w-]*(?:="[^"<>]*")?)*)\s*\/?>/g;

test("hostile values of legacy, modern and operators add no tag to the page", async () => {
  const given = [...hostileTexts, ...'javascript:alert(1) "onclick="a \'><b'.split(" ")];
  const modern = await httpUpstream((_, response) => {
    const fields = Object.fromEntries(given.map((text, i) => [`${text}${i}`, { [text]: given }]));
    response.setHeader("Content-Type", "application/json").end(JSON.stringify({ id: 61, name: given[1], ...fields }));
  });
  const ledger = given
    .filter((text) => text.trim() !== "" && text.isWellFormed())
    .map((text, i) => ({
      id: `${text}${i}`,
      endpoint: "getDataset",
      path: `/${text}`,
      kind: "value",
      reason: text,
      owner: text,
      until: "2999-01-01",
      link: `https://a.example/${encodeURI(text)}"x`,
    }));
  const { operate, ...opened } = await staged(
    { getDataset: { stage: "shadow" } },
    { environment: { MODERN_URL: modern, LEGACY_ADMIN_KEY: "A".repeat(32) }, parts: { expected: ledger as never } },
  );
  await opened.ask("/datasets/61");
  for (const text of given)
    if (/^[\x20-\x7e]*$/.test(text)) {
      const headers = { "User-Agent": text };
      await fetch(`http://127.0.0.1:${opened.port}/${encodeURI(text).replaceAll("/", "")}`, { headers });
      await operate("POST", "/stages/getSetup", { stage: "shadow", share: 1, why: text || "-", by: text || "-" });
    }
  await opened.compared("getDataset", 1);
  const page = await (await operatorsOf(opened)).markup();
  expect(textOf(page)).toContain("--><script>alert(1)</script>");
  expect(page.match(/<script/g)).toHaveLength(1);
  const markup = markupOf(page);
  expect(markup.replace("<!doctype html>", "").replaceAll(tag, "")).not.toMatch(/[<>]/);
  for (const [, href = ""] of markup.matchAll(/\shref="([^"]*)"/g))
    expect(href).toMatch(/^(#|\?[^"]*#clients$|\/clients\.csv$|\/readyz\?verbose$|data:,$|https?:\/\/)/i);
});

test("long texts and lists are cut, and the page says where the rest is", async () => {
  const modern = await httpUpstream((_, response) => {
    const fields = Object.fromEntries(Array.from({ length: 280 }, (_one, i) => [`field${i}`, "x".repeat(2000)]));
    response.setHeader("Content-Type", "application/json").end(JSON.stringify({ id: 61, ...fields }));
  });
  const shadow = { stage: "shadow" } as const;
  const opened = await staged({ getDataset: shadow, getTask: shadow }, { environment: { MODERN_URL: modern } });
  await opened.ask("/datasets/61");
  await opened.ask("/tasks/59");
  for (let share = 0; share < 102; share++)
    await opened.operate("POST", "/stages/getSetup", { stage: "shadow", share: share % 100, why: "again", by: "Ada" });
  await opened.compared("getDataset", 1);
  await opened.compared("getTask", 1);
  const page = await (await operatorsOf(opened)).markup();
  expect(Buffer.byteLength(page)).toBeLessThan(1_500_000);
  expect(shown(page, "more").map(({ more }) => more)).toEqual(["/differences", "/audit"]);
});

test("without modern no section is empty, and each disabled part names its setting", async () => {
  const page = await (await operatorsOf({ gateway: await gatewayFor("http://127.0.0.1:1") })).markup();
  expect(headOf(page)).toEqual({ verdict: "calm", lights: { Legacy: "ok" }, troubles: {}, figures: [0, 0] });
  expect(sectionsOf(page)).toEqual(["traffic", "cache", "private-rows"]);
  expect(shown(page, "off").map(({ off }) => off)).toEqual(["LEGACY_ADMIN_KEY"]);
  expect(page).not.toContain("data-move=");
});

test.each(["/api/v1/json/data/61", "/v1/datasets/61"])(
  "the beginner's hint is shown until the first request, as to %s",
  async (path) => {
    const opened = await staged({});
    const { markup } = await operatorsOf(opened);
    const hints = async () => shown(await markup(), "hint").map(({ hint }) => hint);
    expect(await hints()).toEqual(["first-request", "first-move"]);
    expect(textOf(await markup())).toContain(`curl ${address}/…`);
    await (await fetch(`http://127.0.0.1:${opened.port}${path}`)).arrayBuffer();
    await until(async () => !(await hints()).includes("first-request"));
  },
);

test("traffic is listed by endpoint of both interfaces, those that fail first", async () => {
  const opened = await staged({}, { environment: { MODERN_URL: "", CACHE_LEGACY: "all" } });
  for (const path of ["/datasets/61", "/datasets/61", "/datasets/61", "/setup/1"]) await opened.ask(path);
  const callLegacy = async (path: string) => (await fetch(`http://127.0.0.1:${opened.port}${path}`)).arrayBuffer();
  for (const path of ["data/61", "data/61", "data/features/61"]) await callLegacy(`/api/v1/json/${path}`);
  await callLegacy("/other");
  await opened.legacy.close();
  await opened.ask("/tasks/59");
  await callLegacy("/api/v1/json/task/59");
  await callLegacy("/other");
  const { markup } = await operatorsOf(opened);
  await until(async () => trafficOf(await markup()).some(([name, count]) => name === "the website" && count === "2"));
  expect(trafficOf(await markup())).toEqual([
    ["whole", "5", "40 %", "1"],
    ["getTask", "1", "0 %", "1"],
    ["getDataset", "3", "66.6 %", "0"],
    ["getSetup", "1", "0 %", "0"],
    ["whole", "6", "16.6 %", "2"],
    ["the website", "2", "0 %", "1"],
    ["getTask", "1", "0 %", "1"],
    ["getDataset", "2", "50 %", "0"],
    ["getDatasetFeatures", "1", "0 %", "0"],
  ]);
});

test("on the first day the heading has the share of old clients' reads from the cache", async () => {
  const opened = await staged({}, { environment: { MODERN_URL: "", CACHE_LEGACY: "all" } });
  for (let i = 0; i < 4; i++) await (await fetch(`http://127.0.0.1:${opened.port}/api/v1/json/data/61`)).arrayBuffer();
  const page = await (await operatorsOf(opened)).markup();
  expect(headOf(page)).toMatchObject({ verdict: "calm", figures: [4, 0] });
  expect(verdictText(page)).toContain("75 %");
});

describeWithRedis("with Redis", () => {
  test("a failing Redis is named, with its effect", async () => {
    const redis = await startRedis();
    const opened = await staged({}, { environment: { REDIS_URL: redis.url } });
    const { markup } = await operatorsOf(opened);
    await until(async () => Object.keys(headOf(await markup()).troubles).length === 0);
    expect(headOf(await markup()).lights).toEqual({ Legacy: "ok", Modern: "ok", Redis: "ok", Store: "ok" });
    const text = textOf(await markup());
    expect(text).toContain("of this gateway alone");
    expect(text).toContain("of all gateways");
    await redis.kill();
    await until(async () => headOf(await markup()).lights["Redis"] === "failing");
    await until(async () => headOf(await markup()).lights["Store"] === "failing");
    expect(Object.keys(headOf(await markup()).troubles)).toEqual(["redis store"]);
    await until(async () => troubleText(await markup(), "redis store")?.includes("refused") === true);
  });
});

test("empty sections are folded; differences and moves have a number", async () => {
  const page = await (await operatorsOf(await staged({}, {}))).markup();
  expect(emptyOf(page)).toEqual(["differences", "audit", "ledger", "private-rows"]);
  const titles = [...page.matchAll(/<a href="#([\w-]+)">[^<]*<span class="count">(\d+)/g)];
  expect(titles.map(([, id, count]) => [id, count])).toEqual([
    ["differences", "0"],
    ["audit", "0"],
  ]);
});

test("three endpoints in trouble have a line each, behind failing dependencies", async () => {
  const trouble = ["getDataset", "getSetup", "getStudy", "listDatasets", "listEvaluationMeasures"];
  const shadows = Object.fromEntries(trouble.map((name) => [name, { stage: "shadow" }] as const));
  const { ask, compared, modern, ...opened } = await staged(shadows, {
    faults: [{ endpoint: "*", fault: "otherStatus" }],
    environment: { TRUSTED_PROXIES: "127.0.0.1" },
  });
  const { markup } = await operatorsOf(opened);
  const paths = ["/datasets/61", "/setup/1", "/studies/99", "/studies/100", "/data/list/limit/5"];
  for (const path of [...paths, "/evaluationmeasures/list"]) await ask(path);
  for (const name of trouble) await compared(name, name === "getStudy" ? 2 : 1);
  const troubles = async () => Object.keys(headOf(await markup()).troubles);
  const differing = await troubles();
  expect([differing.length, differing[0], differing.at(-1)]).toEqual([4, "differs getStudy", "others"]);
  modern.use([{ endpoint: "*", fault: "down" }]);
  for (let i = 1; i < 9; i++) {
    await opened.operate("POST", "/stages/getTask", { stage: "modern", share: 0, why: "x", by: "x", despite: "x" });
    await ask(`/tasks/${i}`, { "X-Forwarded-For": `192.0.2.${i}` });
  }
  expect(await troubles()).toEqual(["modern", ...differing]);
});

test("a wrong answer is shown with its share and the way back", async () => {
  const opened = await staged(
    { getDataset: { stage: "canary", share: 50, gate: "none" } },
    { faults: [wrongType], environment: { FORCE_BACKEND: "true" } },
  );
  const { markup } = await operatorsOf(opened);
  await opened.ask("/datasets/61", { "Gateway-Backend": "legacy" });
  await opened.compared("getDataset", 1);
  const page = await markup();
  expect(headOf(page)).toMatchObject({ verdict: "harm", troubles: { "wrong getDataset": "now" } });
  for (const part of ["50 %", "getDataset"]) expect(verdictText(page)).toContain(part);
  expect(shown(page, "move")[0]).toMatchObject({ move: "getDataset", stage: "shadow", share: "100" });
});

test("after a gap of Redis the page counts the answers for legacy's failure only", async () => {
  let lose: () => void = () => undefined;
  const sharedTier = () => (listener: { onLost: () => void }) => {
    lose = () => listener.onLost();
    return tierWith({});
  };
  const gateway = await cachedGateway({}, undefined, { openTier: sharedTier });
  const { markup } = await operatorsOf({ gateway });
  const forFailure = async () => shown(await markup(), "for-failure")[0]?.["for-failure"];
  await gateway.ask("/v1/datasets/61");
  expect(await forFailure()).toBe("0");
  lose();
  expect(await forFailure()).toBe("1");
  await gateway.ask("/v1/datasets/61");
  expect(await forFailure()).toBe("0");
});
