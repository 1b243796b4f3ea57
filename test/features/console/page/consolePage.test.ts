import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { minute } from "../../../../libraries/ui/wording.ts";
import { cachedGateway, tierWith } from "../../../gateway/cache/support.ts";
import { httpUpstream } from "../../../gateway/proxy/support.ts";
import { gatewayFor } from "../../../support/gateway.ts";
import { hostileTexts } from "../../../support/hostileText.ts";
import { describeWithRedis, startRedis } from "../../../libraries/stores/redis/redisServer.ts";
import { until } from "../../../support/waiting.ts";
import { staged, wrongType } from "../../migration/support.ts";
import { address, headingOf, markupOf, operatorsOf, textOf, underWay } from "./operators.ts";

const sectionsOf = (page: string) => [...page.matchAll(/<section id="([^"]+)"/g)].map(([, id]) => id);

test("without a script the page has its order, and every control its label", async () => {
  const { markup, ...one } = await underWay();
  const page = await markup();
  expect(sectionsOf(page)).toEqual("traffic stages differences audit clients ledger cache private-rows".split(" "));
  const text = textOf(page);
  const began = minute(new Date(performance.timeOrigin).toISOString());
  for (const sentence of [
    "Legacy ok now Modern ok now",
    "No client gets an error 5 requests in the last minute, none failed getDataset: 1 request differs, and nothing explains it : no caller gets modern’s answer What differs",
    "requests cached p95 failed New interface 4 0 % 0",
    "Old clients 1 – 0",
    "1 caller since",
    `At ${address} , started ${began} , legacy at ${one.legacy.url} , modern at ${one.modern.url}`,
    "shadow , 100 % mirrored held: 1 of 500 distinct requests compared",
    "0 % ≥ 0 % of 1 · 1 unexplained",
    "modern , 100 % checked",
    // It was never moved, and nothing was asked.
    "getFlow legacy – Move getFlow",
    "1 endpoint in modern, nothing unexplained",
    "39 endpoints in legacy",
    `Legacy "1" Expected 1 Modern " 1 "`,
    "/api/v1/json/data/61 curl -si http://127.0.0.1",
    "legacy → to shadow, 20 % mirrored by Ada first look",
    "1 sample-client /api/v1/json/data/{id} 1 caller 1 by nobody with sample-client/0.14.2 (Python 3.12),",
    "getDataset /licence no-licence missing Licences come later. https://issues.example/12 Grace until 2999-01-01",
    "of 64 MiB 3 answers",
    "getDataset 10m 1h 7d 60s 15s",
    "Until the first scan is over, administrators' lists may lack datasets",
  ])
    expect(text).toContain(sentence);
  // Differences stand below their cause, in the order they came in.
  expect([...page.matchAll(/class="cause-group" data-key="([^" ]+)/g)].map(([, key]) => key)).toEqual(
    "unexplained unexplained expected drift explained".split(" "),
  );
  for (const [svg] of markupOf(page).matchAll(/<svg[^>]*>/g))
    expect(svg).toMatch(/role="img"\s+aria-label="[^"]+"|aria-hidden/);
  expect(page).not.toContain('data-key="empty"');
  expect(page).toMatch(/viewBox="0 0 30 36"[^>]*>\s*<path class="all" d="M29 36v-36h1v36z"/);
  expect(page).toMatch(
    /data-all="legacy"\s+data-will="Legacy will answer all callers of [^"]*\ngetDataset: shadow, 100 % mirrored\n[^"]*getStudy: modern, 100 % checked/,
  );
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

test("no value breaks out, from whichever side: the page is made of our own tags", async () => {
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
  const cut = [...textOf(page).matchAll(/… and [\d,]+ more, in GET \/(\w+)/g)].map(([, path]) => path);
  expect(cut).toEqual(["differences", "audit"]);
});

test("without modern no section is empty, and each disabled part names its setting", async () => {
  const page = await (await operatorsOf({ gateway: await gatewayFor("http://127.0.0.1:1") })).markup();
  expect(textOf(page)).toMatch(/as of [\d:]+ UTC At .* Legacy ok now Ready for the first request/);
  expect(textOf(page)).toContain("43 endpoints without a request in the new interface");
  expect(textOf(page)).toContain(`curl ${address}/…`);
  expect(textOf(page)).toContain("LEGACY_ADMIN_KEY is not set");
  expect(page).not.toContain("data-move=");
  expect(sectionsOf(page)).toEqual(["traffic", "cache", "private-rows"]);
});

test("the beginner's hint is shown until a request comes, on either interface", async () => {
  const environments: Record<string, string>[] = [{ MODERN_URL: "" }, {}];
  for (const environment of environments)
    for (const path of ["/api/v1/json/data/61", "/v1/datasets/61"]) {
      const opened = await staged({}, { environment });
      const { markup } = await operatorsOf(opened);
      expect(textOf(await markup())).toContain(`curl ${address}/…`);
      await (await fetch(`http://127.0.0.1:${opened.port}${path}`)).arrayBuffer();
      await until(async () => !textOf(await markup()).includes("curl http"));
    }
});

test("traffic is listed by endpoint of both interfaces; idle endpoints are folded", async () => {
  const opened = await staged({}, { environment: { MODERN_URL: "", CACHE_LEGACY: "all" } });
  for (const path of ["/datasets/61", "/datasets/61", "/datasets/61", "/setup/1"]) await opened.ask(path);
  const callLegacy = async (path: string) => (await fetch(`http://127.0.0.1:${opened.port}${path}`)).arrayBuffer();
  for (const path of ["data/61", "data/61", "data/features/61"]) await callLegacy(`/api/v1/json/${path}`);
  await callLegacy("/other");
  await opened.legacy.close();
  await opened.ask("/tasks/59");
  await callLegacy("/api/v1/json/task/59");
  await callLegacy("/other");
  const shown = async () => textOf(await (await operatorsOf(opened)).markup());
  await until(async () => (await shown()).includes("the website 2"));
  const text = await shown();
  for (const sentence of [
    /requests cached p95 failed New interface 5 40 % 1 getTask 1 0 % 1 getDataset 3 66.6 % [\d.]+ m?s 0 getSetup 1 0 %/,
    /Old clients 6 16.6 % 2 the website 2 0 % 1 getTask 1 0 % 1 getDataset 2 50 % [\d.]+ m?s 0/,
    /40 endpoints without a request in the new interface/,
  ])
    expect(text).toMatch(sentence);
  expect(text).not.toMatch(/curl http/);
});

test("on the first day the heading is about old clients' reads", async () => {
  const opened = await staged({}, { environment: { MODERN_URL: "", CACHE_LEGACY: "all" } });
  for (let i = 0; i < 4; i++) await (await fetch(`http://127.0.0.1:${opened.port}/api/v1/json/data/61`)).arrayBuffer();
  const { markup } = await operatorsOf(opened);
  expect(textOf(headingOf(await markup())).trim()).toBe(
    "The cache answers 75 % of old clients’ reads 4 requests in the last minute, none failed",
  );
});

test("the heading says what fails, since when, and its effect, most urgent first", async () => {
  const opened = await staged({ getDataset: { stage: "shadow" } }, { faults: [wrongType] });
  await opened.ask("/datasets/61");
  await opened.compared("getDataset", 1);
  const { markup } = await operatorsOf(opened);
  expect(textOf(headingOf(await markup()))).not.toContain("failing");
  await opened.legacy.close();
  await opened.ask("/tasks/59");
  await until(async () => textOf(headingOf(await markup())).includes("failing"));
  const page = await markup();
  expect(textOf(headingOf(page)).trim()).toMatch(
    /^1 of 2 requests were answered in the last 5 minutes \(failed: getTask 1 of 1\) .*?Legacy has been failing since \d\d:\d\d UTC \(it cannot be reached: connection refused, nothing listens on its port\): requests that the cache cannot answer get 502, 503 or 504 Repair legacy; nothing has to be pressed here. What fails getDataset: 1 request differs/,
  );
  expect(textOf(page)).toContain("Legacy failing now Modern ok now");
});

describeWithRedis("with Redis", () => {
  test("a failing Redis is named: no stage moves, figures are of this gateway", async () => {
    const redis = await startRedis();
    const opened = await staged({}, { environment: { REDIS_URL: redis.url } });
    const { markup } = await operatorsOf(opened);
    await until(async () => !textOf(headingOf(await markup())).includes("failing"));
    const text = textOf(await markup());
    expect(text).toContain("Redis ok now Store ok now");
    expect(text).toContain("The last 5 minutes, of this gateway alone.");
    expect(text).toContain("distinct requests of all gateways");
    await redis.kill();
    await until(async () =>
      /^ *(?:Clients get errors|Few clients get errors|No client gets an error) .*?Redis has been failing since \d\d:\d\d UTC \([^)]*connection refused, nothing listens on its port[^)]*\): what was cached is served only while legacy fails; stages, the audit log and the list of clients are not stored.* The cache *$/.test(
        textOf(headingOf(await markup())),
      ),
    );
  });
});

test("after the return to legacy the page says when, who and why, and can undo it", async () => {
  const { markup, operate } = await underWay();
  await operate("POST", "/stages", { stage: "legacy", by: "Grace", why: "an outage" });
  const page = await markup();
  const text = textOf(page);
  expect(textOf(headingOf(page)).trim()).toMatch(
    /^Legacy has answered everything since \d\d:\d\d UTC, by Grace: an outage 5 requests in the last minute, none failed$/,
  );
  expect(text).toMatch(
    /Legacy has answered everything since \S+ \S+ UTC , by Grace: an outage Undo “Everything back to legacy”/,
  );
  expect(text).not.toMatch(/differs, and nothing|Move one endpoint/);
  expect(page).toContain("getStudy: nothing has been compared");
});

test("empty sections are folded and say so; differences and moves have a number", async () => {
  const page = await (await operatorsOf(await staged({}, {}))).markup();
  const text = textOf(page);
  expect([...page.matchAll(/<section id="([^"]+)"[^>]*>\s*<details data-key="empty"/g)].map(([, id]) => id)).toEqual([
    "differences",
    "audit",
    "ledger",
    "private-rows",
  ]);
  expect(text).toContain("Traffic Stages Differences 0 Audit log 0 Ledger Cache Private datasets");
  for (const sentence of ["No difference has been seen.", "Nothing has been moved yet.", "No difference is expected."])
    expect(text).toContain(sentence);
});

test("three endpoints in trouble have a line, behind failing dependencies", async () => {
  const trouble = ["getDataset", "getSetup", "getStudy", "listDatasets", "listEvaluationMeasures"];
  const shadows = Object.fromEntries(trouble.map((name) => [name, { stage: "shadow" }] as const));
  const { ask, compared, modern, ...opened } = await staged(shadows, {
    faults: [{ endpoint: "*", fault: "otherStatus" }],
    environment: { TRUSTED_PROXIES: "127.0.0.1" },
  });
  const { markup } = await operatorsOf(opened);
  const paths = [
    "/datasets/61",
    "/setup/1",
    "/studies/99",
    "/studies/100",
    "/data/list/limit/5",
    "/evaluationmeasures/list",
  ];
  for (const path of paths) await ask(path);
  for (const name of trouble) await compared(name, name === "getStudy" ? 2 : 1);
  const heading = headingOf(await markup());
  expect(textOf(heading).trim()).toMatch(
    /^(?:Clients get errors|Few clients get errors|No client gets an error) .*?getStudy: 2 requests differ, and nothing explains it : .* 2 more endpoints like this : \w+ and \w+ All stages$/,
  );
  expect([...heading.matchAll(/href="#endpoint=(\w+)/g)]).toHaveLength(3);
  modern.use([{ endpoint: "*", fault: "down" }]);
  for (let i = 1; i < 9; i++) {
    await opened.operate("POST", "/stages/getTask", { stage: "modern", share: 0, why: "x", by: "x", despite: "x" });
    await ask(`/tasks/${i}`, { "X-Forwarded-For": `192.0.2.${i}` });
  }
  expect(textOf(headingOf(await markup()))).toMatch(
    /^ *(?:Clients get errors|Few clients get errors|No client gets an error) .*?Modern has been failing since \d\d:\d\d UTC .*: legacy answers the reads, .* Everything back to legacy getStudy: 2 requests/,
  );
});

test("a wrong answer is shown with its share, its start and the way back", async () => {
  const opened = await staged(
    { getDataset: { stage: "canary", share: 50, gate: "none" } },
    { faults: [wrongType], environment: { FORCE_BACKEND: "true" } },
  );
  const { markup } = await operatorsOf(opened);
  await opened.ask("/datasets/61", { "Gateway-Backend": "legacy" });
  await opened.compared("getDataset", 1);
  const page = await markup();
  const harm = "Up to 50 % of the callers of getDataset may get wrong answers";
  expect(textOf(headingOf(page)).trim()).toMatch(
    new RegExp(
      `^${harm} .*${harm} since \\d\\d:\\d\\d UTC : 1 request differs, and nothing explains it Back to shadow getDataset What differs$`,
      "i",
    ),
  );
  expect(page).toMatch(/<button[^>]*data-move="getDataset"[^>]*data-stage="shadow"/);
});

test("a modern that answers errors is a trouble, with their status", async () => {
  const modern = await httpUpstream((_, response) => response.writeHead(500).end());
  const opened = await staged(
    { getTask: { stage: "modern", share: 0 } },
    { environment: { MODERN_URL: modern, TRUSTED_PROXIES: "127.0.0.1" } },
  );
  for (let i = 1; i < 9; i++) await opened.ask(`/tasks/${i}`, { "X-Forwarded-For": `192.0.2.${i}` });
  const { markup } = await operatorsOf(opened);
  expect(textOf(headingOf(await markup())).trim()).toMatch(
    /^No client gets an error .* Modern has been failing since \d\d:\d\d UTC \(it answers with status 500\): legacy answers the reads, .* Everything back to legacy$/,
  );
});

test("after a gap of Redis the page counts the answers for legacy's failure only", async () => {
  let lose: () => void = () => undefined;
  const sharedTier = () => (listener: { onLost: () => void }) => {
    lose = () => listener.onLost();
    return tierWith({});
  };
  const gateway = await cachedGateway({}, undefined, { openTier: sharedTier });
  const { markup } = await operatorsOf({ gateway });
  await gateway.ask("/v1/datasets/61");
  expect(textOf(await markup())).not.toContain("failure only");
  lose();
  expect(textOf(await markup())).toMatch(
    /the shared tier is in step; since \d\d:\d\d UTC 1 answer for legacy’s failure only/,
  );
  await gateway.ask("/v1/datasets/61");
  expect(textOf(await markup())).not.toContain("failure only");
});
