import type { LedgerEntry } from "../../../libraries/compare/ledger.ts";
import { formatPath } from "../../../libraries/compare/results.ts";
import type { PageSection } from "../../../libraries/ui/consolePart.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { rowsTable, timeAt } from "../../../libraries/ui/parts.ts";
import { counted } from "../../../libraries/ui/wording.ts";
import { type AuditMove, type Move, stageText } from "../stage.ts";
import { auditEntries, type JointEntry } from "./auditEntries.ts";

/** The audit log: who moved what, when and why, the newest first. */
export const auditSection = (audit: readonly AuditMove[]): PageSection => {
  const entries = auditEntries(audit);
  return {
    order: 30,
    id: "audit",
    title: "Audit log",
    count: entries.length,
    isEmpty: entries.length === 0,
    about: "Who moved what, when and why: operators, the configuration, and the gates by themselves.",
    content: rowsTable({
      rows: entries,
      heads: ["when", "endpoint", "moved", "by", "why"],
      none: "Nothing has been moved yet.",
      route: "/audit",
      row: (entry) => ("moves" in entry ? jointRow(entry) : moveRow(entry)),
    }),
  };
};

const moveRow = (move: AuditMove): Html =>
  auditRow(
    move,
    { key: move.endpoint, name: html`${move.endpoint}`, moved: fromTo(move) },
    move.despite === undefined ? [] : [move.despite],
  );

const jointRow = (entry: JointEntry): Html => {
  const key = entry.undo ? "undo" : "all";
  const name = counted(entry.moves.length, "endpoint");
  const moved = html`<details data-key="${entry.at} ${key}">
    <summary>
      ${entry.undo ? "moved back" : html`to <strong>${stageText((entry.moves[0] as Move).to)}</strong>`}
    </summary>
    ${entry.moves.map((move) => html`<span class="where">${move.endpoint}: ${fromTo(move)}</span>`)}
  </details>`;
  const reasons = entry.moves.flatMap(({ despite }) => despite ?? []);
  return auditRow(entry, { key, name: html`${name}`, moved }, [...new Set(reasons)]);
};

const fromTo = ({ from, to }: Pick<Move, "from" | "to">): Html =>
  html`<span class="moved"
    >${stageText(from)} <span aria-hidden="true">→</span><span class="unseen">to</span>
    <strong>${stageText(to)}</strong></span
  >`;

/** `reasons`: those given for steps against the evidence. */
const auditRow = (
  { at, by, why }: Pick<Move, "at" | "by" | "why">,
  { key, name, moved }: { key: string; name: Html; moved: Html },
  reasons: readonly string[],
): Html =>
  html`<tr data-key="${at} ${key}">
    <td class="quiet">${timeAt(at)}</td>
    <th scope="row">${name}</th>
    <td>${moved}</td>
    <td><span class="short-label">by </span>${by}</td>
    <td class="long">
      ${why}${reasons.map((reason) => html` <span class="trouble">against the evidence: ${reason}</span>`)}
    </td>
  </tr>`;

export const ledgerSection = (expected: readonly LedgerEntry[], now: Date): PageSection => {
  const today = now.toISOString().slice(0, 10);
  const over = expected.filter(({ until }) => until < today).length;
  return {
    order: 50,
    id: "ledger",
    title: "Ledger",
    isEmpty: expected.length === 0,
    about: "Differences that are meant to be, for now: where, why, whose, and until when.",
    content: html`<details class="ledger" data-key="entries">
      <summary>All entries${over === 0 ? "" : html` <span class="kind drift">${over} over</span>`}</summary>
      ${rowsTable({
        rows: expected,
        heads: ["where", "what", "why", "owner", "until"],
        none: "No difference is expected.",
        route: "/expected",
        row: (entry) => ledgerRow(entry, today),
      })}
    </details>`,
  };
};

const ledgerRow = (
  { id, endpoint, path, kind, candidate, reason, link, owner, until }: LedgerEntry,
  today: string,
): Html =>
  html`<tr data-key="${id}">
    <th scope="row">
      ${endpoint === "*" ? "every endpoint" : endpoint} <code>${formatPath(path)}</code
      ><span class="id where">${id}</span>
    </th>
    <td>
      ${kind === "*" ? "any form" : kind}
      ${candidate === undefined ? "" : html`where modern says <code>${JSON.stringify(candidate)}</code>`}
    </td>
    <td class="long">${reason}${link === undefined ? "" : html` <span class="link">${linked(link)}</span>`}</td>
    <td>${owner}</td>
    <td>
      <span class="short-label">until </span
      ><time>${until}</time>${until < today ? html` <span class="kind drift">over</span>` : ""}
    </td>
  </tr>`;

/** Makes a link if it leads to a page: `javascript:` stays text. */
const linked = (link: string): Html =>
  /^https?:\/\//i.test(link)
    ? html`<a href="${link}" rel="noopener noreferrer" target="_blank">${link}</a>`
    : html`${link}`;
