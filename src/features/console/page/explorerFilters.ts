import { comparisonResults } from "../../../compare/results.ts";
import { formatNumber } from "../../../ui/wording.ts";
import type { DifferenceView } from "../../migration/views.ts";
import { html, type Html } from "../../../ui/html.ts";

const kinds = ["unexplained", "drift", "expected", "explained"] as const;

/** Which differences are shown; the script hides the others. */
export const explorerFilters = (differences: readonly DifferenceView[], endpoints: readonly string[]): Html => {
  const named = [...new Set([...endpoints, ...differences.map(({ endpoint }) => endpoint)])];
  return html`<form class="filters scripted" id="filters" aria-label="Filter the differences" autocomplete="off">
    <fieldset>
      <legend>Kind</legend>
      ${kinds.map((kind) => {
        const count = differences.filter((one) => one.kind === kind).length;
        return html`<label class="chip ${kind}"
          ><input type="radio" name="kind" value="${kind}" ${kind === "unexplained" ? html`checked` : ""} /><span
            ><span aria-hidden="true">${comparisonResults[kind].sign}</span> ${kind}
            <span class="tally">${formatNumber(count)}</span></span
          ></label
        >`;
      })}
      <label class="chip"
        ><input type="radio" name="kind" value="" /><span
          >all <span class="tally">${formatNumber(differences.length)}</span></span
        ></label
      >
    </fieldset>
    <p>
      <label for="filter-endpoint">Endpoint</label>
      <select id="filter-endpoint" name="endpoint">
        <option value="">all</option>
        ${named.map((endpoint) => html`<option value="${endpoint}" data-key="${endpoint}">${endpoint}</option>`)}
      </select>
    </p>
    <p class="wide">
      <label for="filter-path">Path or cause contains</label>
      <input id="filter-path" name="path" type="search" spellcheck="false" placeholder="/creator" />
    </p>
    <p class="shown"><output id="filtered" aria-live="polite" for="filter-endpoint filter-path"></output></p>
  </form>`;
};
