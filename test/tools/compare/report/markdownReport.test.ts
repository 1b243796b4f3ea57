import fc from "fast-check";
import { expect, test } from "vitest";
import { code, fenced, markdownReport } from "../../../../src/tools/compare/report/markdownReport.ts";
import { arbitraryReport, text } from "./arbitraryReport.ts";
import { sampleReport } from "./sampleReport.ts";

const GITHUB_TAKES = 65_536;

test("it has the verdict, the endpoints, unexplained differences and causes", () => {
  const written = markdownReport(sampleReport());
  expect(written).toMatch(/^## 4 of 1,204 answers differ without a reason; 2 could not be compared\n/);
  expect(written).toContain("| `getDataset` | 512 | 0 | 504 | 6 | 0 | 2 | 2 |");
  expect(written).toContain("**value at `/collection_date`** in `getDataset`, 2 answers, made by `nullable + text`");
  expect(written).toContain('- candidate: `["</script><!-- a name -->"]`');
  expect(written).toContain("```sh\ncurl -s 'https://legacy.example/");
  expect(written.indexOf("### Unexplained")).toBeLessThan(written.indexOf("### Causes"));
});

test("a calm report says so, and lists nothing unexplained", () => {
  const report = sampleReport({ unexplained: 0 });
  const written = markdownReport({ ...report, summary: { ...report.summary, failed: 0 } });
  expect(written).toMatch(/^## Nothing unexplained in 1,204 answers\n/);
  expect(written).not.toContain("### Unexplained");
});

test("of many unexplained differences twenty are shown, the others counted", () => {
  const written = markdownReport(sampleReport({ differences: 300, unexplained: 80 }));
  expect(written.match(/<details>/g)).toHaveLength(20);
  expect(written).toContain("… and 60 more");
});

test("whatever the report, GitHub takes it, and every table keeps its columns", () => {
  fc.assert(
    fc.property(arbitraryReport, (report) => {
      const written = markdownReport(report);
      expect(written.length).toBeLessThan(GITHUB_TAKES);
      for (const [i, line] of outsideFences(written).entries()) {
        if (!/^\| (?:endpoint|kind) /.test(line)) continue;
        const table = outsideFences(written).slice(i);
        const rows = table.slice(0, table.indexOf(""));
        for (const row of rows) expect(row).toMatch(/^\| .* \|$/);
        const widths = rows.filter((row) => !row.startsWith("| and ")).map((row) => row.split("|").length);
        expect(new Set(widths).size).toBe(1);
      }
    }),
  );
});

test("the longest report there is, is cut to fit", () => {
  const report = sampleReport({ differences: 5000, unexplained: 5000 });
  const long = "`|<b>\n".repeat(400);
  const written = markdownReport({
    ...report,
    sides: { legacy: long, candidate: long },
    endpoints: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`${long}${i}`, report.summary])),
    differences: report.differences.map((one) => ({ ...one, path: long, legacy: long, rule: long })),
    causes: report.causes.map((one) => ({ ...one, name: long, endpoints: [long, long] })),
  });
  expect(written.length).toBeLessThan(GITHUB_TAKES);
});

test.each([
  ["plain", "`plain`"],
  [`["a", {"b": 1}]`, `\`["a", {"b": 1}]\``],
  ["<b>", "`<b>`"],
  ["a|b", "<code>a&#124;b</code>"],
  ["a`b", "<code>a&#96;b</code>"],
  ["a\nb", "<code>a&#10;b</code>"],
  [" a", "<code> a</code>"],
  ["", "<code></code>"],
])("code: %j -> %s", (any, written) => {
  expect(code(any)).toBe(written);
});

test("code is one line without a bar or a stray backtick, whatever it shows", () => {
  fc.assert(
    fc.property(text, (any) => {
      // oxlint-disable-next-line no-control-regex -- any of these could end a line
      expect(code(any)).toMatch(/^(?:`[^`|\u0000-\u001f]+`|<code>[\w &#;]*<\/code>)$/u);
    }),
  );
});

test("a fence is longer than any run of backticks inside", () => {
  fc.assert(
    fc.property(text, (any) => {
      const [opening = "", ...lines] = fenced("", any).split("\n");
      expect(lines.slice(0, -1).some((line) => line.includes(opening))).toBe(false);
    }),
  );
});

/** The lines that are not in a block of code. */
const outsideFences = (written: string): string[] => {
  let fence: string | undefined;
  return written.split("\n").filter((line) => {
    const opening = /^(`{3,})(?:sh)?$/.exec(line)?.[1];
    const isInside = fence !== undefined;
    if (fence === undefined) fence = opening;
    else if (line === fence) fence = undefined;
    return !isInside && opening === undefined;
  });
};
