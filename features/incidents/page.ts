import type { PagePart, PageSection } from "../../libraries/ui/consolePart.ts";
import { html, type Html } from "../../libraries/ui/html.ts";
import { rowsTable } from "../../libraries/ui/parts.ts";
import { formatNumber, timeOfDay } from "../../libraries/ui/wording.ts";
import type { Incident } from "./incidents.ts";

/** The incidents of the last seven days; empty if there were none. */
export const incidentsPage = (list: () => readonly Incident[]): PagePart => ({
  show(now) {
    const incidents = list();
    return {
      sections: incidents.length === 0 ? [] : [incidentsSection(incidents, now)],
      failedUntil: incidents
        .flatMap(({ failedUntil }) => failedUntil ?? [])
        .toSorted()
        .at(-1),
    };
  },
});

const incidentsSection = (incidents: readonly Incident[], now: Date): PageSection => ({
  order: 7,
  id: "incidents",
  title: "What happened",
  count: incidents.length,
  about: "What was wrong in the last seven days, and how many requests failed or came from the cache meanwhile.",
  content: rowsTable({
    rows: incidents,
    heads: ["when", "what", "failed", "cached", "meanwhile"],
    none: "Nothing.",
    route: "/incidents",
    row: (incident) => incidentRow(incident, now),
  }),
});

/** Milliseconds after it was last seen during which an incident counts as lasting. */
const LASTS_MS = 30_000;

/** `since 17:20 UTC`, `17:20 UTC to 17:24 UTC`, or a single time if both are the same. */
const period = (begin: string, end: string, now: Date): Html => {
  const [from, to] = [begin, end].map((iso) => html`<time datetime="${iso}">${timeOfDay(iso, now)}</time>`);
  if (now.getTime() - Date.parse(end) < LASTS_MS) return html`since ${from}`;
  return timeOfDay(begin, now) === timeOfDay(end, now) ? html`${from}` : html`${from} to ${to}`;
};

const incidentRow = ({ id, begin, end, causes, worst, failed, cached, moves }: Incident, now: Date): Html =>
  html`<tr data-key="${id}">
    <td class="quiet">${period(begin, end, now)}</td>
    <td class="long" data-causes="${causes.length}">
      ${causes.length === 0 ? "Clients got errors" : causes.join("; ")}${
        worst === undefined ? "" : html` <span class="where">at worst in a minute: ${worst}</span>`
      }
    </td>
    <td data-figure="failed"><span class="short-label">failed </span>${formatNumber(failed)}</td>
    <td data-figure="cached"><span class="short-label">from the cache </span>${formatNumber(cached)}</td>
    <td class="long">${moves.map(moveLine)}</td>
  </tr>`;

const moveLine = ({ at, endpoint, more, to, by, why }: Incident["moves"][number]): Html =>
  html`<span class="where"
    ><time datetime="${at}">${at.slice(11, 16)}</time> ${endpoint}${more === 0 ? "" : ` and ${formatNumber(more)} more`}
    to ${to}, by ${by}: ${why}</span
  >`;
