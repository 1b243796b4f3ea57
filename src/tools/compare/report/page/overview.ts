import type { Report, Summary } from "../../../../compare/report.ts";
import { resultNames, comparisonResults } from "../../../../compare/results.ts";
import { html, type Html } from "../../../../ui/html.ts";
import { counted, minute, formatNumber } from "../../../../ui/wording.ts";
import { formatSummary } from "../reportWording.ts";
import { kindsBar } from "./parts.ts";

/** The first screen: the sides, the results, and the results of each endpoint. */
export const reportOverview = (report: Report): Html =>
  html`<header class="overview">
    <p class="compared">${sides(report)}</p>
    <h1 class="${report.summary.unexplained > 0 ? "unexplained" : "calm"}">${formatSummary(report.summary)}</h1>
    ${bar(report.summary)} ${numbers(report.summary)} ${byEndpoint(report)}
  </header>`;

const sides = ({ sides: { legacy, candidate }, made }: Report): Html =>
  html`<strong>Comparison</strong> of legacy <code>${legacy}</code>
    ${candidate === undefined ? "with the new interface’s rules" : html`with candidate <code>${candidate}</code>`},
    <time datetime="${made}">${minute(made)}</time>`;

/** The results as shares of a bar, with a label for screen readers. */
const bar = (summary: Summary): Html => {
  const parts = resultNames.filter((name) => summary[name] > 0);
  const label = parts.map((name) => `${formatNumber(summary[name])} ${name}`).join(", ");
  const amounts = parts.map((name) => [name, summary[name]] as const);
  const total = amounts.reduce((sum, [, amount]) => sum + amount, 0);
  return kindsBar(amounts, total, label === "" ? "no answers" : label);
};

const numbers = (summary: Summary): Html =>
  html`<dl class="numbers">
    <div>
      <dt>compared</dt>
      <dd>${formatNumber(summary.compared)}</dd>
    </div>
    ${resultNames.map(
      (name) =>
        html`<div class="${name}" title="${comparisonResults[name].means}">
          <dt><span class="sign" aria-hidden="true">${comparisonResults[name].sign}</span> ${name}</dt>
          <dd class="${summary[name] === 0 ? "zero" : ""}">${formatNumber(summary[name])}</dd>
        </div>`,
    )}
  </dl>`;

const byEndpoint = ({ endpoints }: Report): Html =>
  html`<table class="endpoints">
    <caption>
      ${counted(Object.keys(endpoints).length, "endpoint")}
    </caption>
    <thead>
      <tr>
        <th scope="col">endpoint</th>
        <td class="share"></td>
        <th scope="col"><span class="short" aria-hidden="true">Σ</span><span class="long">compared</span></th>
        ${resultNames.map(
          (name) =>
            html`<th scope="col">
              <span class="sign ${name}" aria-hidden="true">${comparisonResults[name].sign}</span>
              <span class="long">${name}</span>
            </th>`,
        )}
      </tr>
    </thead>
    <tbody>
      ${Object.entries(endpoints).map(
        ([endpoint, summary]) =>
          html`<tr>
            <th scope="row"><a href="#differences" data-view="${view({ endpoint })}">${endpoint}</a></th>
            <td class="share">${bar(summary)}</td>
            <td>${formatNumber(summary.compared)}</td>
            ${resultNames.map((name) => cell(endpoint, name, summary[name]))}
          </tr>`,
      )}
    </tbody>
  </table>`;

const cell = (endpoint: string, name: (typeof resultNames)[number], count: number): Html => {
  if (count === 0) return html`<td class="zero">0</td>`;
  if (name === "equal") return html`<td>${formatNumber(count)}</td>`;
  return name === "failed"
    ? html`<td><a href="#failures" class="failed">${formatNumber(count)}</a></td>`
    : html`<td>
        <a href="#differences" data-view="${view({ endpoint, kind: name })}" class="${name}">${formatNumber(count)}</a>
      </td>`;
};

const view = (filters: Record<string, string>): string => new URLSearchParams(filters).toString();
