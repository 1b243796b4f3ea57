import type { ExampleAnswer, Report, Row } from "../../../../compare/report.ts";
import { comparisonResults, formatPath } from "../../../../compare/results.ts";
import { truncate } from "../../../../scrub/truncate.ts";
import { badge } from "../../../../ui/badge.ts";
import { curlPair } from "../../../../ui/curlPair.ts";
import { html, type Html } from "../../../../ui/html.ts";
import { section } from "../../../../ui/section.ts";
import { counted, formatNumber } from "../../../../ui/wording.ts";
import { endpointSelect } from "./filterBar.ts";
import { deferred, endpointsOf } from "./parts.ts";

/** Whole answers side by side, folded; as many as fit into `room` characters. */
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

/** Rows deeper than this are not indented further. */
const DEEPEST = 9;

/** Two documents as one indented tree; rows that lead to no difference can be hidden. */
const sideBySideTable = ({ question, left, right, rows }: ExampleAnswer): Html => {
  const leading = leadingRows(rows);
  return html`<table class="sides">
    <caption>
      ${question}
    </caption>
    <thead>
      <tr>
        <th scope="col">field</th>
        <th scope="col">${title(left)}</th>
        <th scope="col">${title(right)}</th>
        <th scope="col">what differs</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map((row, i) => tableRow(row, leading.has(i)))}
    </tbody>
  </table>`;
};

const title = ({ title: name, status }: ExampleAnswer["left"]): string =>
  status === undefined ? name : `${name}, ${status}`;

/** The rows that differ, and the rows around them. */
const leadingRows = (rows: readonly Row[]): ReadonlySet<number> => {
  const leading = new Set<number>();
  let within = -1;
  for (const [i, { depth, form }] of [...rows.entries()].toReversed()) {
    if (form === undefined && depth >= within) continue;
    leading.add(i);
    within = depth;
  }
  return leading;
};

const tableRow = (row: Row, leads: boolean): Html => {
  const { depth, name, left, right, form, kind, rules = [], omitted } = row;
  const head = (text: string) => html`<th scope="row" class="d${Math.min(depth, DEEPEST)}">${formatPath(text)}</th>`;
  if (omitted !== undefined)
    return html`<tr class="alike">
      ${head("…")}
      <td colspan="3">${formatNumber(omitted)} more alike</td>
    </tr>`;
  if (form === undefined) {
    if (left === undefined && right === undefined)
      return html`<tr${leads ? "" : html` class="alike"`}>${head(name)}<td colspan="3"></td></tr>`;
    return html`<tr class="alike">
      ${head(name)}
      <td>${left}</td>
      <td>${right}</td>
      <td></td>
    </tr>`;
  }
  const shownKind = kind ?? "unexplained";
  const what = html`${comparisonResults[shownKind].sign}
  ${form}${rules.length > 0 ? html` · <code>${rules.join(" + ")}</code>` : ""}${kind === "explained" ? "" : html` <b>${shownKind}</b>`}`;
  const sides =
    left === undefined && right === undefined
      ? html`<td colspan="2"></td>`
      : html`<td>${left === undefined ? "" : html`<del>${left}</del>`}</td>
          <td>${right === undefined ? "" : html`<ins>${right}</ins>`}</td>`;
  return html`<tr class="${shownKind}">
    ${head(name)}${sides}
    <td>${what}</td>
  </tr>`;
};
