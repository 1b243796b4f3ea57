import { formatNumber } from "../../../ui/wording.ts";
import type { DifferenceView } from "../../migration/views.ts";
import { badge } from "../../../ui/badge.ts";
import { html, type Html } from "../../../ui/html.ts";
import { section } from "../../../ui/section.ts";
import type { AdminPageData } from "./adminPageData.ts";
import { differenceItem } from "./differenceItem.ts";
import { explorerFilters } from "./explorerFilters.ts";

/** Characters of all differences together: the page is asked for every two seconds. */
const MOST = 800_000;

/** What was found in live traffic, by its cause: the root causes first, below each where it shows. */
export const differencesSection = ({ differences, stages }: AdminPageData): Html => {
  let room = MOST;
  const items = differences
    .map((difference) => ({ difference, item: differenceItem(difference) }))
    .filter(({ item }) => (room -= item.length) >= 0);
  const left = differences.length - items.length;
  const groups = Object.entries(Object.groupBy(items, ({ difference }) => groupOf(difference)));
  return section({
    id: "differences",
    title: "Differences",
    count: differences.length,
    about:
      "What modern, or a rule, answers otherwise: by cause, those that explain the most first, and below each where it shows.",
    content: html`${explorerFilters(differences, Object.keys(stages))}
      ${differences.length === 0 ? html`<p class="none">No difference has been seen.</p>` : ""}
      <ol class="explorer">
        ${groups.map(([key, found = []]) => group(key, found))}
      </ol>
      ${left > 0 ? html`<p class="none">… and ${formatNumber(left)} more, in <code>GET /differences</code>.</p>` : ""}`,
  });
};

const groupOf = ({ kind, cause }: DifferenceView): string => `${kind} ${cause}`;

const group = (key: string, found: readonly { difference: DifferenceView; item: Html }[]): Html => {
  const [first] = found;
  if (first === undefined) return html``;
  const { kind, cause } = first.difference;
  const answers = found.reduce((sum, { difference }) => sum + difference.answers, 0);
  return html`<li class="cause-group" data-key="${key}">
    <div class="cause-head">
      ${badge(kind)}
      <h3><code>${cause}</code></h3>
      <span class="amount"
        ><strong>${formatNumber(answers)}</strong>
        <span class="quiet">${answers === 1 ? "answer" : "answers"}</span></span
      >
    </div>
    <ol class="places">
      ${found.map(({ item }) => item)}
    </ol>
  </li>`;
};
