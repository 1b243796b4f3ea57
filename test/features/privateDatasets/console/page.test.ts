import { decodeHTMLStrict } from "entities";
import { expect, test } from "vitest";
import { privateDatasetsPage } from "../../../../src/features/privateDatasets/console/page.ts";
import type { PrivateRowsView } from "../../../../src/features/privateDatasets/scan.ts";
import { section } from "../../../../src/ui/section.ts";
import { sampleData, sampleNow } from "../../console/page/sampleData.ts";

const scanning = sampleData().cache.privateRows;
const completedAt = "2026-11-21T09:26:00.000Z";
const complete: Partial<PrivateRowsView> = { state: "complete", completedAt, at: 0 };

const markupOf = (given: Partial<PrivateRowsView>): string =>
  privateDatasetsPage(() => ({ ...scanning, ...given }))
    .show(sampleNow, new URLSearchParams(), "http://127.0.0.1:8000/v1")
    .sections.map(section)
    .join("");
const textOf = (markup: string): string =>
  decodeHTMLStrict(markup.replaceAll(/<[^>]*>/g, " "))
    .replaceAll(/\s+/g, " ")
    .trim();

test.each<[Partial<PrivateRowsView>, string, string[]]>([
  [
    {},
    "38.1 %",
    [
      "scanning the scan is at id 17,605 of 46,100 Until the first scan is over, administrators' lists may lack datasets",
      "known 214, 3 of them hidden last scan none kept in DATA_DIR who scans this instance",
      "calls 13,911 by this instance",
    ],
  ],
  [
    { ...complete, hidden: 0 },
    "100 %",
    ["complete no scan runs now Administrators' lists have", "known 214, none of them hidden last scan 4 min ago"],
  ],
  [
    { ...complete, at: 23_050, scansHere: false, kept: "redis" },
    "50 %",
    ["complete the scan is at id 23,050 of 46,100", "kept in Redis who scans not this instance"],
  ],
  [
    { ...complete, state: "outdated", completedAt: "2026-11-21T06:26:00.000Z" },
    "100 %",
    ["outdated no scan runs now The last scan was over more than an hour ago", "last scan 3 h ago"],
  ],
  [
    { trouble: "legacy does not know the key", rows: 0, at: 0, lastId: 0, kept: "memory" },
    "0 %",
    ["Trouble: legacy does not know the key", "known none last scan none kept in memory: a restart begins anew"],
  ],
])("%j: %s", (given, share, told) => {
  const markup = markupOf(given);
  expect(markup).toMatch(new RegExp(`role="img"\\s+aria-label="${share} of the ids have been read"`));
  for (const one of told) expect(textOf(markup)).toContain(one);
});

test("only an outdated scan is marked", () => {
  const marked = (["scanning", "complete", "outdated"] as const).filter((state) =>
    markupOf({ state }).includes(`class="amiss"`),
  );
  expect(marked).toEqual(["outdated"]);
});
