import { decodeHTMLStrict } from "entities";
import { expect, test } from "vitest";
import { privateDatasetsPage } from "../../../../src/features/privateDatasets/console/page.ts";
import type { PrivateRowsView } from "../../../../src/features/privateDatasets/state.ts";
import { section } from "../../../../src/ui/section.ts";
import { sampleData, sampleNow } from "../../console/page/sampleData.ts";

const walking = sampleData().cache.privateRows;
const completedAt = "2026-11-21T09:26:00.000Z";
const complete: Partial<PrivateRowsView> = {
  state: "complete",
  checkedUpTo: 46_000,
  completedAt,
  doing: "waiting",
  at: 0,
};

const markupOf = (given: Partial<PrivateRowsView>): string =>
  privateDatasetsPage(() => ({ ...walking, ...given }))
    .show(sampleNow, new URLSearchParams(), "http://127.0.0.1:8000/v1")
    .sections.map(section)
    .join("");
const textOf = (markup: string): string =>
  decodeHTMLStrict(markup.replaceAll(/<[^>]*>/g, " "))
    .replaceAll(/\s+/g, " ")
    .trim();

const lacking = "administrators' lists may lack some, and say private=incomplete.";

test.each<[Partial<PrivateRowsView>, string, string[]]>([
  [
    {},
    "38.1 %",
    [
      "walking 38.1 %, 17,604 of 46,100 ids looked at",
      `Until every id has been looked at, ${lacking}`,
      "known 214, 3 of them hidden completed never kept in DATA_DIR who walks this instance, at id 17,605",
      "calls 13,911 by this instance",
    ],
  ],
  [
    { ...complete, hidden: 0 },
    "100 %",
    [
      "complete every id up to 46,000 has been looked at Administrators' lists have them, and say private=incomplete where",
      "known 214, none of them hidden completed 4 min ago",
      "who walks this instance, waiting for the next round",
    ],
  ],
  [
    { ...complete, state: "stale", completedAt: "2026-11-21T06:26:00.000Z", kept: "redis", walksHere: false },
    "100 %",
    [
      `stale every id up to 46,000 has been looked at It was complete, but nothing has been looked at for half an hour: ${lacking}`,
      "completed 3 h ago kept in Redis who walks not this instance",
    ],
  ],
  [
    { state: "broken", trouble: "legacy does not know the key" },
    "38.1 %",
    [
      "broken 38.1 %, 17,604 of 46,100 ids looked at Trouble: legacy does not know the key",
      `Legacy cannot be asked, and is tried again: until then ${lacking}`,
    ],
  ],
  [
    { state: "missing", rows: 0, hidden: 0, checkedUpTo: 0, lastId: 0, kept: "memory", doing: "listing", at: 3000 },
    "0 %",
    [
      "missing nothing has been looked at",
      "known none completed never kept in memory: a restart begins anew who walks this instance, reading legacy's list at row 3,000",
    ],
  ],
])("%j: %s", (given, share, told) => {
  const markup = markupOf(given);
  expect(markup).toMatch(new RegExp(`role="img"\\s+aria-label="${share} of the ids have been looked at"`));
  for (const one of told) expect(textOf(markup)).toContain(one);
});

test("only stale and broken are marked", () => {
  const marked = (["missing", "walking", "complete", "stale", "broken"] as const).filter((state) =>
    markupOf({ state }).includes(`class="amiss"`),
  );
  expect(marked).toEqual(["stale", "broken"]);
});
