import { diffWordsWithSpace } from "diff";
import { UNSERVED } from "../../../libraries/compare/difference.ts";
import { formatPath } from "../../../libraries/compare/results.ts";
import type { PageSection } from "../../../libraries/ui/consolePart.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { badge, curlPair, filterForm, timeAt } from "../../../libraries/ui/parts.ts";
import { truncate } from "../../../src/operation/index.ts";
import { counted, formatNumber } from "../../../libraries/ui/wording.ts";
import type { DifferenceSample, DifferenceView } from "../differences.ts";
import { classifications } from "./routes.ts";

/** Characters of all differences together: the page is requested every two seconds. */
const MAX_LENGTH = 800_000;
/** Characters of one value. */
const MAX_VALUE_LENGTH = 2000;
/** The most differing words that are marked; if more differ, both values are marked as a whole. */
const MAX_EDITS = 400;

/** Differences in live traffic, grouped by their cause, the most frequent causes first. */
export const liveDifferencesSection = (
  differences: readonly DifferenceView[],
  endpoints: readonly string[],
): PageSection => {
  let room = MAX_LENGTH;
  const items = differences
    .map((difference) => ({ difference, item: differenceItem(difference) }))
    .filter(({ item }) => (room -= item.length) >= 0);
  const left = differences.length - items.length;
  const groups = Object.entries(Object.groupBy(items, ({ difference }) => groupOf(difference)));
  return {
    order: 20,
    id: "differences",
    title: "Differences",
    count: differences.length,
    isEmpty: differences.length === 0,
    about:
      "What modern, or a rule, answers otherwise: by cause, the most frequent first, and below each where it shows. Counted are distinct requests to this gateway since its start.",
    content: html`${filterForm(
        [
          { name: "kind", values: classifications, selected: "unexplained" },
          { name: "endpoint", values: endpoints },
        ],
        "Path or cause contains",
      )}
      ${differences.length === 0 ? html`<p class="none">No difference has been seen.</p>` : ""}
      <ol>
        ${groups.map(([key, found = []]) => group(key, found))}
      </ol>
      ${left > 0 ? html`<p class="none" data-more="/differences">… and ${formatNumber(left)} more, in <code>GET /differences</code>.</p>` : ""}`,
  };
};

const groupOf = ({ kind, cause }: DifferenceView): string => `${kind} ${cause}`;

const group = (key: string, found: readonly { difference: DifferenceView; item: Html }[]): Html => {
  const [first] = found;
  if (first === undefined) return html``;
  const { kind, cause, causeRequests } = first.difference;
  return html`<li class="cause-group" data-key="${key}">
    <div class="cause-head">
      ${badge(kind)}
      <h3><code>${cause}</code></h3>
      <span class="where">${counted(causeRequests, "request")}</span>
    </div>
    <ol>
      ${found.map(({ item }) => item)}
    </ol>
  </li>`;
};

/** One difference at one path of one endpoint, folded, with its samples and the entry that would allow it. */
export const differenceItem = (difference: DifferenceView): Html => {
  const { endpoint, path, kind, form, rule, entry, cause, requests, samples } = difference;
  const key = JSON.stringify([endpoint, path, kind, form, rule, cause, entry]);
  return html`<li
    class="difference"
    data-key="${key}"
    data-endpoint="${endpoint}"
    data-kind="${kind}"
    data-path="${path}"
    data-text="${path} ${cause}"
  >
    <details data-key="fold">
      <summary>
        <span class="endpoint">${endpoint}</span> <code class="path">${formatPath(path)}</code>
        <span class="where">${form}${madeBy(difference)} · ${counted(requests, "request")}</span>
      </summary>
      ${
        samples.length === 0
          ? html`<p class="none">No sample was kept.</p>`
          : html`<ol class="samples">
              ${samples.map(sampleItem)}
            </ol>`
      }
      ${kind === "unexplained" && path !== UNSERVED && form !== "lost" ? ledgerEntry(difference) : ""}
    </details>
  </li>`;
};

/** The entry that would allow a difference, to be completed in the file of `EXPECTED_DIFFERENCES`. */
const ledgerEntry = ({ endpoint, path, form: kind }: DifferenceView): Html => {
  const entry = { id: "", endpoint, path, kind, reason: "", owner: "", until: "" };
  return html`<details class="curl">
    <summary>entry for the ledger<span class="unseen">: ${kind} at ${formatPath(path)} of ${endpoint}</span></summary>
    <pre>${JSON.stringify(entry)}</pre>
  </details>`;
};

const madeBy = ({ kind, rule, entry }: DifferenceView): Html =>
  html`${entry === undefined ? "" : html`, allowed by <code>${entry}</code>`}${
    rule === undefined ? "" : html`, ${kind === "explained" ? "by" : "expected by the rule"} <code>${rule}</code>`
  }`;

/**
 * One answer that shows the difference: the values of all sides, with changes marked, and the commands that request it.
 */
const sampleItem = (sample: DifferenceSample): Html => {
  const [legacy, expected, candidate] = (["legacy", "expected", "candidate"] as const).map((side) =>
    sample[side] === undefined ? undefined : truncate(JSON.stringify(sample[side], null, 2), MAX_VALUE_LENGTH),
  );
  // If modern answers as expected, it differs from legacy.
  const isAsExpected = expected === candidate;
  const compared = isAsExpected ? legacy : expected;
  const changes = diffWordsWithSpace(compared ?? "", candidate ?? "", { maxEditLength: MAX_EDITS }) ?? [
    { value: compared ?? "", removed: true, added: false },
    { value: candidate ?? "", removed: false, added: true },
  ];
  const before = changes.map(({ added, removed, value }) => (added ? "" : removed ? html`<del>${value}</del>` : value));
  const after = changes.map(({ added, removed, value }) => (removed ? "" : added ? html`<ins>${value}</ins>` : value));
  const side = (name: string, value: string | undefined, marked: unknown = value): Html => {
    const shown = value === undefined ? html`<i class="quiet">nothing</i>` : html`<code>${marked}</code>`;
    return html`<div>
      <dt>${name}</dt>
      <dd data-side="${name}">${shown}</dd>
    </div>`;
  };
  return html`<li data-key="${sample.at} ${sample.question}">
    <p><code>${sample.question}</code> <span class="where">${timeAt(sample.at)}</span></p>
    <dl class="values">
      ${
        // Legacy's value is known if legacy was asked for the comparison.
        legacy === undefined ? "" : side("Legacy", legacy, isAsExpected ? before : legacy)
      }
      ${side("Expected", expected, isAsExpected ? expected : before)} ${side("Modern", candidate, after)}
    </dl>
    ${curlPair(sample.curl)}
  </li>`;
};
