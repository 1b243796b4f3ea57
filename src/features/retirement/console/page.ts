import type { PagePart, PageSection } from "../../../ui/consolePart.ts";
import { html } from "../../../ui/html.ts";
import { rowsTable } from "../../../ui/rowsTable.ts";
import { timeAgo, timeAt } from "../../../ui/timeAgo.ts";
import { formatNumber } from "../../../ui/wording.ts";
import type { ClientView, ListClients } from "./retirementConsole.ts";

/** The section of callers of the legacy interface, and their number. */
export const retirementPage = (list: ListClients): PagePart => ({
  show(now) {
    const clients = list();
    const callers = new Set(clients.map(({ caller, agent }) => `${caller} ${agent}`)).size;
    return {
      numbers: [{ order: 30, name: "callers of legacy", value: formatNumber(callers) }],
      sections: [clientsSection(clients, now)],
    };
  },
});

const clientsSection = (clients: readonly ClientView[], now: Date): PageSection => ({
  order: 40,
  id: "clients",
  title: "Who still calls legacy",
  shortTitle: "Clients",
  count: clients.length,
  about: "Callers of the legacy interface by a hash of their key, their user agent and what they ask for.",
  content: rowsTable({
    rows: clients.toSorted((a, b) => b.count - a.count),
    heads: ["requests", "asks for", "user agent", "caller", "first", "last"],
    none: "Nobody has called the legacy interface.",
    route: "/clients",
    row: ({ caller, agent, path, count, first, last }) =>
      html`<tr data-key="${caller} ${agent} ${path}">
        <td class="amount"><strong>${formatNumber(count)}</strong></td>
        <th scope="row"><code>${path}</code></th>
        <td class="long">${agent === "" ? html`<span class="absent">none</span>` : agent}</td>
        <td><code>${caller}</code></td>
        <td class="quiet"><span class="short-label">since </span>${timeAt(first)}</td>
        <td class="quiet"><span class="short-label">last </span>${timeAgo(last, now)} ago</td>
      </tr>`,
  }),
});
