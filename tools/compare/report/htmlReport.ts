import type { Cause, ExampleAnswer, Report, ReportedDifference, Row, Summary } from "./report.ts";
import { comparisonResults, formatPath, resultNames } from "../../../libraries/compare/results.ts";
import { truncate } from "../../../src/operation/index.ts";
import { documentFrame, readAsset, sharedStyle } from "../../../libraries/ui/documentFrame.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { badge, curlPair, filterForm, section } from "../../../libraries/ui/parts.ts";
import { counted, formatNumber, minute } from "../../../libraries/ui/wording.ts";
import { formatSummary, formatValues, reasonsOf } from "./reportWording.ts";

const read = (file: string): string => readAsset(new URL(file, import.meta.url));
const frame = documentFrame([sharedStyle(), read("report.css")].join("\n"), [
  read("../../../libraries/ui/client/filter.js"),
]);
/** People open the page as a file and send it around: so its policy is part of the page. */
const head = html`<meta http-equiv="Content-Security-Policy" content="${frame.policy}" />`;

/** The most characters of each section, so that the page can be sent around and opened on a phone. */
const MAX_CHARS = { causes: 500_000, differences: 2_500_000, examples: 1_500_000, failures: 200_000 };
/** The most characters of a value. */
const MAX_VALUE_CHARS = 240;
/** Rows deeper than this are not indented further. */
const MAX_DEPTH = 12;

/**
 * The report as a page that needs no server and no network. Scripts only filter it: everything can be read without
 * them.
 */
export const htmlReport = (report: Report): string => {
  const { causes, differences, examples, failures, summary } = report;
  const body = html`${overview(report)} ${filter(report)}
    <main>
      ${section({
        id: "causes",
        title: "Causes",
        count: causes.length,
        about: "A rule, an entry of the ledger, or nothing known: what lies behind the differences.",
        content: fitting(causes.map(causeItem), MAX_CHARS.causes),
      })}
      ${section({
        id: "differences",
        title: "Differences",
        count: differences.length,
        about: "One form of difference at one path of one endpoint, with the first values seen.",
        content: fitting(differences.map(differenceItem), MAX_CHARS.differences),
      })}
      ${section({
        id: "examples",
        title: "Examples",
        count: examples.length,
        about: "Whole answers beside each other: what differs is marked, with the rule that changed it.",
        content: fitting(examples.map(exampleItem), MAX_CHARS.examples),
      })}
      ${section({
        id: "failures",
        title: "Not compared",
        count: summary.unreadable + summary.failed,
        about: "Answers that one side did not give, or that can be read in no format.",
        content: fitting(failures.map(failureItem), MAX_CHARS.failures),
      })}
    </main>`;
  return frame.render({ title: formatSummary(summary), head, body }).toString();
};

/** The items that fit into the page, in their order, and the number of the others. */
const fitting = (items: readonly Html[], max: number): Html => {
  if (items.length === 0) return html`<p class="none">None.</p>`;
  let room = max;
  const shown = items.filter((item) => (room -= item.length) >= 0);
  const left = items.length - shown.length;
  return html`<ol>
      ${shown}
    </ol>
    ${left > 0 ? html`<p class="none">… and ${formatNumber(left)} more, left out to keep this page small.</p>` : ""}`;
};

/** The first screen: the sides, and the results of each endpoint. Each number leads to the answers that it counts. */
const overview = ({ sides: { legacy, candidate }, made, summary, endpoints }: Report): Html => {
  const row = (name: string, counts: Summary) =>
    html`<tr>
      <th scope="row">${name === "all" ? name : link({ endpoint: name }, name)}</th>
      <td>${formatNumber(counts.compared)}</td>
      ${resultNames.map((kind) => {
        const count = formatNumber(counts[kind]);
        const target: Record<string, string> = name === "all" ? { kind } : { endpoint: name, kind };
        return counts[kind] === 0
          ? html`<td class="quiet">0</td>`
          : html`<td class="${kind}">${kind === "equal" ? count : link(target, count)}</td>`;
      })}
    </tr>`;
  return html`<header>
    <p class="where">
      <strong>Comparison</strong> of legacy <code>${legacy}</code>
      ${candidate === undefined ? "with the new interface’s rules" : html`with candidate <code>${candidate}</code>`},
      <time datetime="${made}">${minute(made)}</time>
    </p>
    <h1 class="${summary.unexplained + summary.unreadable > 0 ? "unexplained" : ""}">${formatSummary(summary)}</h1>
    <table class="counts">
      <thead>
        <tr>
          <th scope="col">endpoint</th>
          <th scope="col">all</th>
          ${resultNames.map(
            (name) =>
              html`<th scope="col" class="${name}" title="${comparisonResults[name].means}">
                <span aria-hidden="true">${comparisonResults[name].sign}</span> <span>${name}</span>
              </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${row("all", summary)} ${Object.entries(endpoints).map(([name, counts]) => row(name, counts))}
      </tbody>
    </table>
    <p class="where">Statuses, latency, coverage and schema drift: <code>report.json</code>.</p>
  </header>`;
};

/** A link that sets the filter: the script reads it from the address. */
const link = (filters: Record<string, string>, text: string): Html =>
  html`<a href="#${new URLSearchParams(filters).toString()}">${text}</a>`;

const filter = ({ endpoints }: Report): Html =>
  filterForm(
    [
      { name: "endpoint", values: Object.keys(endpoints) },
      { name: "kind", values: resultNames.filter((name) => name !== "equal") },
      { name: "form", values: ["status", "missing", "extra", "type", "value", "order", "moved"] },
    ],
    "Path, rule, cause or entry of the ledger",
  );

const causeItem = ({ kind, name, fields, answers, endpoints, curl }: Cause): Html =>
  html`<li data-endpoint="${endpoints.join(" ")}" data-kind="${kind}" data-text="${name}">
    <p>
      ${badge(kind)} ${link({ kind, text: name }, name)}
      <span class="where">${counted(answers, "answer")}, ${counted(fields, "field")} · ${endpoints.join(", ")}</span>
    </p>
    ${curlPair(curl)}
  </li>`;

const failureItem = ({ endpoint, kind, why, count, curl }: Report["failures"][number]): Html =>
  html`<li data-endpoint="${endpoint}" data-kind="${kind}" data-text="${why}">
    <p>${badge(kind)} ${why} <span class="where">${endpoint} · ${counted(count, "answer")}</span></p>
    ${curlPair(curl)}
  </li>`;

const differenceItem = (difference: ReportedDifference): Html => {
  const { endpoint, path, kind, form, rule, cause, entry, count, answers, curl } = difference;
  const text = [path, ...reasonsOf(difference)].join(" ");
  return html`<li data-endpoint="${endpoint}" data-kind="${kind}" data-form="${form}" data-text="${text}">
    <details>
      <summary>
        ${badge(kind)} <code>${formatPath(path)}</code> <b>${form}</b>
        <span class="where"
          >${endpoint} · ${counted(answers, "answer")}${cause === undefined ? "" : html` · ${cause}`}</span
        >
      </summary>
      <p class="where">
        ${counted(count, "field")}${entry === undefined ? "" : html`, allowed by <code>${entry}</code>`}${rule === undefined ? "" : html`, ${kind === "explained" ? "by" : "made by"} <code>${rule}</code>`}
      </p>
      <dl class="values">
        ${formatValues(difference, MAX_VALUE_CHARS).map(
          ({ side, text: value }) =>
            html`<div>
              <dt>${side}</dt>
              <dd><code>${value}</code></dd>
            </div>`,
        )}
      </dl>
      ${curlPair(curl)}
    </details>
  </li>`;
};

/** Two documents side by side, as a single indented tree. */
const exampleItem = ({ endpoint, request, result, left, right, rows, curl }: ExampleAnswer): Html => {
  const differing = rows.filter(({ form }) => form !== undefined).length;
  const title = ({ title: name, status }: ExampleAnswer["left"]) =>
    status === undefined ? name : `${name}, ${status}`;
  return html`<li data-endpoint="${endpoint}" data-kind="${result}" data-text="${request}">
    <details>
      <summary>
        ${badge(result)} <code>${truncate(request, 200)}</code>
        <span class="where">${endpoint} · ${counted(differing, "difference")} in ${counted(rows.length, "row")}</span>
      </summary>
      <table class="sides">
        <thead>
          <tr>
            <th scope="col">field</th>
            <th scope="col">${title(left)}</th>
            <th scope="col">${title(right)}</th>
            <th scope="col">what differs</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(exampleRow)}
        </tbody>
      </table>
      ${curlPair(curl)}
    </details>
  </li>`;
};

const exampleRow = ({ depth, name, left, right, form, kind = "unexplained", rules = [], omitted }: Row): Html => {
  const indent = "\u00A0\u00A0".repeat(Math.min(depth, MAX_DEPTH));
  const field = html`<th scope="row">${indent}${omitted === undefined ? formatPath(name) : "…"}</th>`;
  if (omitted !== undefined)
    return html`<tr class="quiet">
      ${field}
      <td colspan="3">${formatNumber(omitted)} more alike</td>
    </tr>`;
  if (form === undefined)
    return html`<tr class="quiet">
      ${field}
      <td>${left}</td>
      <td>${right}</td>
      <td></td>
    </tr>`;
  return html`<tr class="${kind}">
    ${field}
    <td>${left === undefined ? "" : html`<del>${left}</del>`}</td>
    <td>${right === undefined ? "" : html`<ins>${right}</ins>`}</td>
    <td>
      ${comparisonResults[kind].sign}
      ${form}${rules.length > 0 ? html` · <code>${rules.join(" + ")}</code>` : ""}${kind === "explained" ? "" : html` <b>${kind}</b>`}
    </td>
  </tr>`;
};
