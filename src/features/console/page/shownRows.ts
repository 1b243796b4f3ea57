import { formatNumber } from "../../../ui/wording.ts";
import { html, type Html } from "../../../ui/html.ts";

/** Rows of one table: the page is asked for every two seconds. */
const MOST = 100;

type ShownRows<Row> = {
  rows: readonly Row[];
  heads: readonly string[];
  row: (row: Row) => Html;
  /** What is said of no rows. */
  none: string;
  /** Where the rest is. */
  route: string;
};

/** A table of the first rows, and where the others are. */
export const shownRows = <Row>({ rows, heads, row, none, route }: ShownRows<Row>): Html => {
  if (rows.length === 0) return html`<p class="none">${none}</p>`;
  const left = rows.length - MOST;
  return html`<table class="rows">
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.slice(0, MOST).map(row)}
      </tbody>
    </table>
    ${left > 0 ? html`<p class="none">… and ${formatNumber(left)} more, in <code>GET ${route}</code>.</p>` : ""}`;
};
