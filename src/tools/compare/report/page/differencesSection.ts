import type { Report, ReportedDifference } from "../../../../compare/report.ts";
import { formatPath } from "../../../../compare/results.ts";
import { badge } from "../../../../ui/badge.ts";
import { curlPair } from "../../../../ui/curlPair.ts";
import { html, type Html } from "../../../../ui/html.ts";
import { section } from "../../../../ui/section.ts";
import { counted, formatNumber } from "../../../../ui/wording.ts";
import { reasonsOf, formatValues } from "../reportWording.ts";
import { filterBar } from "./filterBar.ts";
import { deferred, endpointsOf } from "./parts.ts";

/** Characters of all differences together; unexplained ones come first. */
const MAX_CHARS = 3_000_000;
/** Characters of one value. */
const MAX_VALUE_CHARS = 240;

/** All differences, with filters. */
export const reportedDifferences = (report: Report): Html => {
  const { differences, sides } = report;
  const judged = sides.candidate !== undefined;
  let room = MAX_CHARS;
  const items = differences.map((difference) => item(difference, judged)).filter((one) => (room -= one.length) >= 0);
  const shown = differences.slice(0, items.length);
  const left = differences.length - shown.length;
  return section({
    id: "differences",
    title: "Differences",
    count: differences.length,
    about: "One form of difference at one path of one endpoint, with the first values seen.",
    content: html`${filterBar(shown, endpointsOf(report))}
      <ol class="differences">
        ${items}
      </ol>
      <p class="more scripted"><button type="button" hidden>Show more</button></p>
      ${left > 0 ? html`<p class="none">… and ${formatNumber(left)} more, in <code>report.json</code>.</p>` : ""}`,
  });
};

const item = (difference: ReportedDifference, judged: boolean): Html => {
  const { path, kind, form, answers } = difference;
  return html`<li ${facets(difference)}>
    <details>
      <summary>
        ${badge(kind)} <code>${formatPath(path)}</code> <b>${form}</b>
        <span class="where">${difference.endpoint} · ${counted(answers, "answer")}</span>
      </summary>
      ${deferred(content(difference, judged))}
    </details>
  </li>`;
};

/** The attributes that the filters read. */
const facets = (difference: ReportedDifference): Html[] =>
  Object.entries({
    endpoint: difference.endpoint,
    kind: difference.kind,
    form: difference.form,
    path: difference.path,
    rules: JSON.stringify(reasonsOf(difference)),
  }).map(([name, value]) => html`data-${name}="${value}" `);

const content = (difference: ReportedDifference, judged: boolean): Html => {
  const { kind, rule, entry, count, answers, curl } = difference;
  const reasons = [
    ...(entry === undefined ? [] : [html` allowed by <code>${entry}</code>`]),
    ...(rule === undefined ? [] : [html` ${kind === "explained" ? "by" : "made by"} <code>${rule}</code>`]),
  ];
  return html`<p class="what">${counted(count, "field")} in ${counted(answers, "answer")}${reasons}</p>
    ${values(difference, judged)}${curlPair(curl)}`;
};

const values = (difference: ReportedDifference, judged: boolean): Html => {
  const shown = new Map(formatValues(difference, MAX_VALUE_CHARS).map(({ side, text }) => [side, text]));
  const sides = [
    ["legacy", "Legacy"],
    ["expected", judged ? "Expected" : "Ours"],
    ["candidate", "Candidate"],
  ] as const;
  return html`<dl class="values">
    ${sides
      .filter(([side]) => judged || side !== "candidate")
      .map(
        ([side, title]) =>
          html`<div>
            <dt>${title}</dt>
            <dd>${value(shown.get(side))}</dd>
          </div>`,
      )}
  </dl>`;
};

const value = (text: string | undefined): Html =>
  text === undefined ? html`<span class="absent">nothing</span>` : html`<code>${text}</code>`;
