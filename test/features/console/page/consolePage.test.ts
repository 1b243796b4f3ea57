import { hash } from "node:crypto";
import { decodeHTMLStrict } from "entities";
import fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryData } from "./arbitraryData.ts";
import { openSamplePage, sampleAddress, sampleConsole, type SampleData } from "./sampleConsole.ts";
import { sampleData, sampleNow } from "./sampleData.ts";
import { minute } from "../../../../src/ui/wording.ts";

const ours = /<(style|script)[^>]*>[\s\S]*?<\/\1>/g;

let shown = sampleData();
const { render } = await openSamplePage(() => shown);

const pageOf = (data: Partial<SampleData> = {}): string => {
  shown = { ...sampleData(), ...data };
  return render.page(sampleNow).toString();
};

/** The page without our own styles and scripts. */
const markupOf = (page: string): string => page.replaceAll(ours, "");

/** What a reader sees, in one line. */
const textOf = (page: string): string =>
  decodeHTMLStrict(markupOf(page).replaceAll(/<[^>]*>/g, " ")).replaceAll(/\s+/g, " ");

const respond = async (data: SampleData): Promise<Response> =>
  sampleConsole(() => data).request("/", { headers: { Host: "127.0.0.1" } });

test("the sections of all features have their order", () => {
  expect([...pageOf().matchAll(/<section id="([^"]+)"/g)].map(([, id]) => id)).toEqual([
    "stages",
    "history",
    "differences",
    "audit",
    "clients",
    "ledger",
    "cache",
    "private-rows",
  ]);
});

test("without a script everything can be read", () => {
  const page = pageOf();
  const text = textOf(page);
  for (const sentence of [
    "getDataset : 41 answers differ, and nothing explains it; also listDatasets",
    "? its gate fails: parity at least 95.37 %, needed 99.00 % for 47 min , by Ada: no unexplained difference for a day",
    "canary , 5 % of callers",
    "modern , 1 % checked",
    "12.4 /s hits 83 %",
    "legacy 118 ms / 486 ms modern 31 ms / 96 ms 0.2 % of modern failed",
    "96.5 % ≥ 95.3 %",
    "1,204 requests · 0.9 % expected by the ledger · 41 unexplained",
    "1 idle endpoint findFlow",
    "09:10 UTC a gateway started",
    "GET /datasets/61",
    `Expected " sparse _arff" Modern " Sparse _arff"`,
    "curl 'https://legacy.example/api/v1/json/data/61' curl 'https://modern.example/datasets/61'",
    "shadow, 100 % mirrored → to canary, 5 % of callers by Ada no unexplained difference for a day",
    "18,230 sample-client /api/v1 1 caller 18,230 by 9f2c61ab with sample-client/0.14.2 (Python 3.12),",
    "412 Firefox /api/v1/json",
    "every endpoint /** old-order order Orders were not kept before the index was rebuilt. Ada until 2026-10-01 over",
    "20.4 MiB of 64 MiB",
    "getDataset 10m 1h 7d 60s 15s",
    "scanning the scan is at id 17,605 of 46,100",
  ])
    expect(text).toContain(sentence);
});

test("every drawing has its text", () => {
  const page = pageOf();
  expect(page).toMatch(
    /aria-label="Requests in each half-minute of the last 30 minutes: between \d and 2\d, lately \d+"/,
  );
  expect(page).toContain(
    `aria-label="820 equal, 327 explained, 12 expected, 4 drift, 41 unexplained, at least 95.3 % with confidence"`,
  );
  for (const [svg] of markupOf(page).matchAll(/<svg[^>]*>/g))
    expect(svg).toMatch(/role="img"\s+aria-label="[^"]+"|aria-hidden/);
});

test("differences stand below their cause, in the order they came in", () => {
  const groups = [...pageOf().matchAll(/class="cause-group" data-key="([^"]+)"/g)].map(([, key]) => key);
  expect(groups).toEqual([
    "unexplained value, where the rule is lowercase",
    "unexplained order, where the rule is list",
    "drift value at /*/quality",
    "expected citations-later",
    "explained integer",
  ]);
});

test("without a modern implementation nothing can be moved", () => {
  const page = pageOf({ hasModern: false });
  expect(page).toContain("No modern implementation is configured");
  expect(page).not.toContain("data-move=");
});

test("empty sections say so", () => {
  const text = textOf(pageOf({ stages: {}, differences: [], audit: [], clients: [], expected: [] }));
  for (const sentence of ["No difference has been seen.", "Nothing has been moved yet.", "No difference is expected."])
    expect(text).toContain(sentence);
});

test("without a modern implementation the page has no empty section", () => {
  const page = pageOf({ stages: {}, differences: [], audit: [], clients: [], hasModern: false });
  expect(textOf(page)).toMatch(/Gateway , as of 09:30:00 UTC Legacy answers everything callers of legacy 0/);
  expect([...page.matchAll(/<section id="([^"]+)"/g)].map(([, id]) => id)).toEqual([
    "stages",
    "history",
    "cache",
    "private-rows",
  ]);
});

test("the head names the gateway, its version, its address and its start", () => {
  const begin = minute(new Date(performance.timeOrigin).toISOString());
  const text = textOf(pageOf({}));
  expect(text).toMatch(new RegExp(`catalog-gateway \\d+\\.\\d+\\.\\d+ at ${sampleAddress} , started ${begin}`));
  expect(textOf(pageOf({ stages: {} }))).toContain(`curl ${sampleAddress}/…`);
});

test("what is long is cut, and the page says where the rest is", () => {
  const { differences, audit } = sampleData();
  const [difference] = differences;
  const many = Array.from({ length: 5000 }, (_, i) => ({ ...difference, path: `/field${i}` }));
  const page = pageOf({
    differences: many as SampleData["differences"],
    audit: Array.from({ length: 300 }, () => audit[0]) as SampleData["audit"],
  });
  expect(Buffer.byteLength(page)).toBeLessThan(1_000_000);
  expect(textOf(page)).toMatch(/… and [\d,]+ more, in GET \/differences/);
  expect(textOf(page)).toContain("… and 200 more, in GET /audit");
});

test("the policy allows our own style and scripts alone, and no frame", async () => {
  const answer = await respond(sampleData());
  const policy = answer.headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(/^default-src 'none'; script-src '/);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  const page = await answer.text();
  const inline = [...page.matchAll(/<(style|script)[^>]*>([\s\S]*?)<\/\1>/g)];
  expect(inline).toHaveLength(4);
  for (const [, name, text = ""] of inline) {
    const directive = policy.split("; ").find((one) => one.startsWith(`${name}-src`));
    expect(directive).toContain(`'sha256-${hash("sha256", text, "base64")}'`);
  }
  expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(page).not.toMatch(/\ssrc=|@import|url\(|\sstyle=/);
});

test("every control has a label, every id exists once, every inner link has a target", () => {
  const page = markupOf(pageOf());
  const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [, id] of page.matchAll(/<(?:select|input|textarea)\s+id="([^"]+)"/g))
    expect(page).toContain(`<label for="${id}">`);
  for (const [, id] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(id);
  expect(page).not.toMatch(/<th(?![^>]*scope=)[\s>]/);
});

/** A tag as our templates write them: attributes in double quotes, no handler, no style. */
const tag = /<(\/?[a-z]\w*)((?:\s+(?!on|style)[a-zA-Z][\w-]*(?:="[^"<>]*")?)*)\s*\/?>/g;

test("no value breaks out: the page is made of our own tags, and links to pages alone", () => {
  fc.assert(
    fc.property(arbitraryData, (data) => {
      const page = pageOf(data);
      expect(page.match(/<script/g)).toHaveLength(3);
      const markup = markupOf(page);
      expect(markup.replace("<!doctype html>", "").replaceAll(tag, "")).not.toMatch(/[<>]/);
      for (const [, href = ""] of markup.matchAll(/\shref="([^"]*)"/g))
        expect(href).toMatch(/^(#|\?[^"]*#(history|clients)$|\/clients\.csv$|data:,$|https?:\/\/)/i);
    }),
  );
});

test("the heading names every open circuit breaker, before the endpoints in trouble", async () => {
  const headingOf = async (open: string[], data: Partial<SampleData> = {}) => {
    shown = { ...sampleData(), ...data };
    const page = (await openSamplePage(() => shown, [], open)).render.page(sampleNow).toString();
    expect(textOf(page)).toContain(/<title>([^<]*)</.exec(page)?.[1]);
    return textOf(/<h1>.*<\/h1>/s.exec(page)?.[0] ?? "").trim();
  };
  const fine = { stages: {} };
  expect(await headingOf(["modern"], fine)).toBe("Modern fails: its circuit breaker is open");
  expect(await headingOf(["legacy", "modern"], fine)).toBe("Legacy and modern fail: their circuit breakers are open");
  expect(await headingOf(["legacy"])).toBe(
    "Legacy fails: its circuit breaker is open; getDataset : 41 answers differ, and nothing explains it; also listDatasets",
  );
});

test("the heading links to three endpoints in trouble, and counts the others", () => {
  const { getDataset } = sampleData().stages;
  if (getDataset === undefined) throw new Error("no endpoint in trouble");
  const stages = Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [name, getDataset]));
  const heading = /<h1>.*<\/h1>/s.exec(pageOf({ stages }))?.[0] ?? "";
  expect(textOf(heading).trim()).toBe("a : 41 answers differ, and nothing explains it; also b , c and 2 more");
  expect([...heading.matchAll(/href="#stage-(.)"/g)].map(([, name]) => name)).toEqual(["a", "b", "c"]);
  const { d: _d, e: _e, ...three } = stages;
  expect(textOf(/<h1>.*<\/h1>/s.exec(pageOf({ stages: three }))?.[0] ?? "")).toMatch(/; also b and c $/);
});

test("a feature that is off has a section that names its missing setting", async () => {
  const section = { id: "off", title: "Private datasets", about: "What it would show." };
  const off = [
    { setting: "LEGACY_ADMIN_KEY", effect: "nothing is looked for", section },
    { setting: "B", effect: "b" },
  ];
  const page = (await openSamplePage(sampleData, off)).render.page(sampleNow).toString();
  expect(textOf(page)).toMatch(
    /Private datasets What it would show\. LEGACY_ADMIN_KEY is not set: nothing is looked for\. /,
  );
  expect([...page.matchAll(/<section id="([^"]+)"/g)].at(-1)?.[1]).toBe("off");
});
