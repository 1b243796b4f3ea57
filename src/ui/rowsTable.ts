import { html, type Html } from "./html.ts";
import { formatNumber } from "./wording.ts";

/** The page is requested every two seconds. */
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
    ${left > 0 ? html`<p class="none">… and ${formatNumber(left)} more, in <code>GET ${route}</code>.</p>` : ""}`;
};
