import type { ExampleAnswer, Report } from "../../../../compare/report.ts";
import { counted, truncate } from "../../../../ui/wording.ts";
import { badge } from "../../../../ui/badge.ts";
import { curlPair } from "../../../../ui/curlPair.ts";
import { sideBySideTable } from "./exhibitTable.ts";
import { endpointsOf } from "./endpointsOf.ts";
import { endpointSelect } from "./filterBar.ts";
import { html, type Html } from "../../../../ui/html.ts";
import { deferred } from "./later.ts";
import { section } from "../../../../ui/section.ts";

/** Whole answers beside each other, each folded until it is wanted; as many as there is room for, in characters. */
export const examplesSection = (report: Report, room: number): Html => {
  const { examples } = report;
  let free = room;
  const items = examples.map(item).filter((one) => (free -= one.length) >= 0);
  const left = examples.length - items.length;
  return section({
    id: "exhibits",
    title: "Exhibits",
    count: examples.length,
    about: "Whole answers beside each other: what changed is marked, with the rule that changed it.",
    content:
      examples.length === 0
        ? html`<p class="none">No answer was kept whole.</p>`
        : html`<div class="filters">
              <div class="scripted">${endpointSelect("exhibits-endpoint", endpointsOf(report))}</div>
              <label class="chip"><input type="checkbox" id="only-changed" /><span>Only rows that differ</span></label>
              <output class="quiet scripted" aria-live="polite" for="exhibits-endpoint"></output>
            </div>
            <div class="exhibits">${items}</div>
            ${left > 0 ? html`<p class="none">${counted(left, "more exhibit")} left out to keep this page small.</p>` : ""}`,
  });
};

const item = (example: ExampleAnswer): Html => {
  const { endpoint, question, result, rows, curl } = example;
  const changed = rows.filter(({ form }) => form !== undefined).length;
  return html`<details class="exhibit" data-endpoint="${endpoint}">
    <summary>
      ${badge(result)} <span class="question">${truncate(question, 200)}</span>
      <span class="where">${endpoint} · ${counted(changed, "difference")} in ${counted(rows.length, "row")}</span>
    </summary>
    ${deferred(html`${sideBySideTable(example)}${curlPair(curl)}`)}
  </details>`;
};
