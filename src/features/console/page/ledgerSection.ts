import type { LedgerEntry } from "../../../compare/ledger.ts";
import { formatPath } from "../../../compare/results.ts";
import { html, type Html } from "../../../ui/html.ts";
import { section } from "../../../ui/section.ts";
import { shownRows } from "./shownRows.ts";

/** The differences that are meant to be, for now. */
export const ledgerSection = (expected: readonly LedgerEntry[], now: Date): Html => {
  const today = now.toISOString().slice(0, 10);
  return section({
    id: "ledger",
    title: "Ledger",
    count: expected.length,
    about: "Differences that are meant to be, for now: where, why, whose, and until when.",
    content: shownRows({
      rows: expected,
      heads: ["where", "what", "why", "owner", "until"],
      none: "No difference is expected.",
      route: "/expected",
      row: (entry) => row(entry, today),
    }),
  });
};

const row = ({ id, endpoint, path, kind, candidate, reason, link, owner, until }: LedgerEntry, today: string): Html =>
  html`<tr data-key="${id}">
    <th scope="row">
      ${endpoint === "*" ? "every endpoint" : endpoint} <code>${formatPath(path)}</code><span class="id">${id}</span>
    </th>
    <td>
      ${kind === "*" ? "any form" : kind}
      ${candidate === undefined ? "" : html`, where modern says <code>${JSON.stringify(candidate)}</code>`}
    </td>
    <td class="long">${reason}${link === undefined ? "" : html` <span class="link">${linked(link)}</span>`}</td>
    <td>${owner}</td>
    <td>
      <span class="short-label">until </span>${until}${until < today ? html` <span class="over">over</span>` : ""}
    </td>
  </tr>`;

/** Only what leads to another page is a link: an entry's text is not to become a script. */
const linked = (link: string): Html =>
  /^https?:\/\//i.test(link)
    ? html`<a href="${link}" rel="noopener noreferrer" target="_blank">${link}</a>`
    : html`${link}`;
