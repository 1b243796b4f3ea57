import type { ReportedDifference } from "../../../../compare/report.ts";
import { comparisonResults } from "../../../../compare/results.ts";
import { html, type Html } from "../../../../ui/html.ts";
import { reasonsOf } from "../reportWording.ts";

/** The filters. The script combines them, counts what each choice would show, and writes them into the address. */
export const filterBar = (differences: readonly ReportedDifference[], endpoints: readonly string[]): Html =>
  html`<form class="filters scripted" aria-label="Filter the differences" autocomplete="off">
    ${endpointSelect("endpoint", endpoints)}
    <p>
      <label for="rule">Rule, ledger entry or cause</label>
      <select id="rule" data-filter="rule">
        ${options(differences.flatMap(reasonsOf))}
      </select>
    </p>
    <p class="wide">
      <label for="path">Path contains</label>
      <input id="path" data-filter="path" type="search" spellcheck="false" placeholder="/creator" />
    </p>
    ${choices("kind", ["unexplained", "drift", "expected", "explained"])}
    ${choices("form", ["status", "missing", "extra", "type", "value", "order", "moved"])}
    <p class="shown">
      <output tabindex="-1" aria-live="polite" for="endpoint rule path"></output>
      <button type="reset" disabled>Clear filters</button>
    </p>
  </form>`;

/** A choice of endpoint; all of them on the page are one filter. */
export const endpointSelect = (id: string, endpoints: readonly string[]): Html =>
  html`<p>
    <label for="${id}">Endpoint</label>
    <select id="${id}" data-filter="endpoint">
      ${options(endpoints)}
    </select>
  </p>`;

const options = (values: readonly string[]): Html[] => [
  html`<option value="">all</option>`,
  ...[...new Set(values)].toSorted().map((value) => html`<option value="${value}">${value}</option>`),
];

const choices = (filter: "kind" | "form", values: readonly string[]): Html =>
  html`<fieldset>
    <legend>${filter === "kind" ? "Kind" : "Form"}</legend>
    ${values.map((value) => {
      const sign = filter === "kind" ? comparisonResults[value as keyof typeof comparisonResults].sign : "";
      return html`<label class="chip ${filter === "kind" ? value : ""}"
        ><input type="checkbox" data-filter="${filter}" value="${value}" /><span
          >${sign} ${value} <span class="tally"></span></span
      ></label>`;
    })}
  </fieldset>`;
