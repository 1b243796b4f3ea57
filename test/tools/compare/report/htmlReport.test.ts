import { readFileSync } from "node:fs";
import { decodeHTMLStrict } from "entities";
import fc from "fast-check";
import { expect, test } from "vitest";
import { htmlReport } from "../../../../src/tools/compare/report/htmlReport.ts";
import { arbitraryReport } from "./arbitraryReport.ts";
import { sampleReport } from "./sampleReport.ts";

const shared = ["tokens.css", "frame.css", "parts.css", "copying.js"].map((file) => `ui/${file}`);
const own = ["sections.css", "examples.css", "later.js", "filters.js"].map(
  (file) => `tools/compare/report/page/${file}`,
);
const ours = [
  ...[...shared, ...own].map((file) => readFileSync(new URL(`../../../../src/${file}`, import.meta.url), "utf8")),
  `document.documentElement.classList.add("with-script");`,
];

/** The page without what we wrote as styles and scripts. */
const markupOf = (page: string): string => ours.reduce((rest, part) => rest.replace(part, () => ""), page);

/** A tag as our templates write them: attributes in double quotes, none of them a handler. */
const tag = /<(\/?[a-z]\w*)((?:\s+(?!on)[a-zA-Z-]+(?:="[^"<>]*")?)*)\s*\/?>/g;

const countsOf = (markup: string): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const [, name = ""] of markup.matchAll(tag)) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

test("the page stands alone: nothing is loaded from anywhere", () => {
  const page = htmlReport(sampleReport());
  expect(page).toMatch(/^<!doctype html>/);
  expect(page).not.toMatch(/\ssrc=|@import|url\(|fetch\(|import\(/);
  expect(markupOf(page).match(/<link[^>]*>/g)).toEqual([`<link rel="icon" href="data:," />`]);
});

test("the first screen says what was compared and what came of it", () => {
  const page = htmlReport(sampleReport());
  expect(page).toContain(">4 of 1,204 answers differ without a reason; 2 could not be compared</h1>");
  expect(page).toContain(`aria-label="193 equal, 965 explained, 30 expected, 12 drift, 4 unexplained, 2 failed"`);
  expect(page).toContain(`data-view="endpoint=getDataset&amp;kind=unexplained"`);
});

test("without a script every difference and every example is there", () => {
  const report = sampleReport();
  const page = htmlReport(report);
  const shown = decodeHTMLStrict(page);
  for (const { path, rule, curl } of report.differences)
    for (const text of [path, rule ?? "", curl.candidate]) expect(shown).toContain(text);
  expect(page.match(/<table class="sides">/g)).toHaveLength(report.examples.length);
  expect(page).toContain("97 more alike");
});

test("a changed row has signs and its rule; rows without a change can be hidden", () => {
  const page = htmlReport(sampleReport()).replaceAll("\n", " ").replaceAll("> <", "><");
  expect(page).toContain(
    `<tr class="explained"><th scope="row" class="d0">id<td><del>&quot;61&quot;</del><td><ins>61</ins><td>✓ type · <code>integer</code>`,
  );
  expect(page).toContain(`<tr class="alike"><th scope="row" class="d0">licence`);
  expect(page).toContain(`<tr><th scope="row" class="d0">quality`);
});

test("no value breaks out: whatever is told, the page is made of our own tags", () => {
  fc.assert(
    fc.property(arbitraryReport, (report) => {
      const markup = markupOf(htmlReport(report));
      const rest = markup.replace("<!doctype html>", "").replaceAll(tag, "");
      expect(rest).not.toMatch(/[<>]/);
      const { script, noscript, "/noscript": closed } = countsOf(markup);
      expect(script).toBe(4);
      expect(closed).toBe(noscript);
      expect(noscript ?? 0).toBe(report.differences.length + report.examples.length);
    }),
  );
});

test("every control has a label, every id is unique, every link within the page works", () => {
  const page = markupOf(htmlReport(sampleReport()));
  const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [, id] of page.matchAll(/<(?:select|input)\s+id="([^"]+)"/g))
    expect(page.includes(`<label for="${id}">`) || id === "only-changed").toBe(true);
  for (const [, id] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(id);
  expect(page).not.toMatch(/<th(?![^>]*scope=)[\s>]/);
});

test("a large report is a page of less than 5 MB", () => {
  const usual = htmlReport(sampleReport({ differences: 3000, examples: 100, rows: 400, unexplained: 120 }));
  expect(Buffer.byteLength(usual)).toBeLessThan(5_000_000);
  expect(usual).not.toContain("left out to keep this page small");
  const [example] = sampleReport({ examples: 1, rows: 400 }).examples;
  const largest = sampleReport({ differences: 9000, unexplained: 9000 });
  const page = htmlReport({ ...largest, examples: Array(300).fill(example) });
  expect(Buffer.byteLength(page)).toBeLessThan(5_000_000);
  expect(page).toContain("left out to keep this page small");
  expect(page).toMatch(/… and [\d,]+ more, in <code>report.json/);
});
