import { type ResultName, comparisonResults } from "../compare/results.ts";
import { commandsOf, type CurlPair } from "../compare/curls.ts";
import type { PageSection } from "./consolePart.ts";
import { html, type Html } from "./html.ts";
import { formatNumber, minute, percent } from "./wording.ts";

type Section = Omit<PageSection, "order" | "content"> & { content: Html | Html[] };

/** A title, and behind it the number of entries if it is given. */
export const titleOf = ({ title, count }: Pick<Section, "title" | "count">): Html =>
  html`${title}${count === undefined ? "" : html` <span class="count">${formatNumber(count)}</span>`}`;

/** One section of a page: its heading, a line about it, and its content, which is folded if it is empty. */
export const section = (shown: Section): Html => {
  const { id, about, content, isEmpty } = shown;
  const heading = html`<h2 id="${id}-title" tabindex="-1">${titleOf(shown)}</h2>`;
  const rest = html`<p class="about">${about}</p>
    ${content}`;
  return html`<section id="${id}" aria-labelledby="${id}-title">
    ${
      isEmpty
        ? html`<details data-key="empty">
            <summary>${heading}</summary>
            ${rest}
          </details>`
        : [heading, rest]
    }
  </section>`;
};

/** The most rows of a table: the page is requested every two seconds. */
const MAX_ROWS = 100;

type RowsTable<Row> = {
  rows: readonly Row[];
  heads: readonly (string | Html)[];
  row: (row: Row) => Html;
  /** The sentence that stands for an empty table. */
  none: string;
  /** The route that answers with all rows. */
  route: string;
};

/** A table of the first 100 rows, and the route that has the others. */
export const rowsTable = <Row>({ rows, heads, row, none, route }: RowsTable<Row>): Html => {
  if (rows.length === 0) return html`<p class="none">${none}</p>`;
  const left = rows.length - MAX_ROWS;
  return html`<table class="rows">
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.slice(0, MAX_ROWS).map(row)}
      </tbody>
    </table>
    ${left > 0 ? html`<p class="none" data-more="${route}">… and ${formatNumber(left)} more, in <code>GET ${route}</code>.</p>` : ""}`;
};

/** A field of the filter that selects one value of a facet; `selected`: the value selected at first, instead of all. */
type Facet = { name: string; values: readonly string[]; selected?: string };

/**
 * The form that filters the items of a page by facets and text (`client/filter.js`). `about`: the label of the text.
 */
export const filterForm = (facets: readonly Facet[], about: string): Html =>
  html`<form class="filters scripted" id="filters" aria-label="Filter" autocomplete="off">
    ${facets.map(
      ({ name, values, selected }) =>
        html`<p>
          <label for="filter-${name}">${name}</label>
          <select id="filter-${name}" name="${name}">
            <option value="">all</option>
            ${values.map((value) => html`<option data-key="${value}" ${value === selected ? html`selected` : ""}>${value}</option>`)}
          </select>
        </p>`,
    )}
    <p>
      <label for="filter-text">${about}</label>
      <input id="filter-text" name="text" type="search" spellcheck="false" placeholder="/creator" />
    </p>
    <p><output aria-live="polite"></output> <button type="reset">Clear</button></p>
  </form>`;

/** A result as its sign and its word, in its colour. */
export const badge = (kind: ResultName): Html =>
  html`<span class="kind ${kind}"><span aria-hidden="true">${comparisonResults[kind].sign}</span> ${kind}</span>`;

/** The commands that send one request to each side, folded. */
export const curlPair = (pair: Partial<CurlPair>): Html =>
  html`<details class="curl">
    <summary>${commandsOf(pair).length === 1 ? "curl" : "curl for both sides"}</summary>
    <pre>${commandsOf(pair).join("\n")}</pre>
  </details>`;

/** A share (0-1) as a bar and in words: `38 % of the room is taken`. */
export const fillBar = (share: number, ofWhat: string): Html =>
  html`<progress value="${Math.min(1, share)}" aria-label="${percent(Math.min(1, share))} ${ofWhat}"></progress>`;

const steps = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
] as const;

/** 12 minutes -> `12 min`; a text that is no time stays as it is. */
const span = (iso: string, now: Date, moment: string): string => {
  const seconds = (now.getTime() - Date.parse(iso)) / 1000;
  if (Number.isNaN(seconds)) return iso;
  const [length, unit] = steps.find(([one]) => seconds >= one) ?? [];
  return length === undefined ? moment : `${Math.floor(seconds / length)} ${unit}`;
};

/** The time since an ISO 8601 time, which is the title. `moment`: the words for less than a minute. */
export const timeAgo = (iso: string, now: Date, moment = "a moment"): Html =>
  html`<time datetime="${iso}" title="${minute(iso)}">${span(iso, now, moment)}</time>`;

/** An ISO 8601 time to the minute. */
export const timeAt = (iso: string): Html => html`<time datetime="${iso}">${minute(iso)}</time>`;

/** Names with their values. */
export const valuesList = (values: readonly (readonly [name: string, value: string | Html])[]): Html =>
  html`<dl class="values">
    ${values.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
