import type { ExampleAnswer, Row } from "../../../../compare/report.ts";
import { comparisonResults, formatPath } from "../../../../compare/results.ts";
import { formatNumber } from "../../../../ui/wording.ts";
import { html, type Html } from "../../../../ui/html.ts";

/** Deeper than this nothing is moved further in. */
const DEEPEST = 9;

/** Two documents side by side as one indented tree; a row that leads to no difference can be hidden. */
export const sideBySideTable = ({ question, left, right, rows }: ExampleAnswer): Html => {
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

/** The rows that differ, and those that they stand in. */
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
