import type { PagePart, PageSection } from "../../../ui/consolePart.ts";
import { joinModules, readAsset } from "../../../ui/documentFrame.ts";
import { html, type Html } from "../../../ui/html.ts";
import { rowsTable } from "../../../ui/rowsTable.ts";
import { timeAgo, timeAt } from "../../../ui/timeAgo.ts";
import { counted, formatNumber } from "../../../ui/wording.ts";
import { type ClientGroup, groupClients, matchesSearch } from "./clientGroups.ts";
import type { ClientView, ListClients } from "./retirementConsole.ts";

/** Groups that are shown at first, and at most; and clients of one group. */
const FIRST = 10;
const MAX_SHOWN = 100;
const MAX_CLIENTS = 20;
const MAX_SEARCH = 200;

/** The section of callers of the legacy interface, and their number. */
export const retirementPage = (list: ListClients): PagePart => ({
  style: readAsset(new URL("clients.css", import.meta.url)),
  script: joinModules([new URL("client/clients.js", import.meta.url)]),
  show(now, query) {
    const clients = list();
    const callers = new Set(clients.map(({ caller, agent }) => `${caller} ${agent}`)).size;
    const search = (query.get("clients") ?? "").slice(0, MAX_SEARCH);
    return {
      numbers: [{ order: 30, name: "callers of legacy", value: formatNumber(callers) }],
      // The overview counts none.
      sections:
        clients.length === 0 ? [] : [clientsSection(clients, { search, all: query.get("all") === "clients" }, now)],
    };
  },
});

const clientsSection = (
  clients: readonly ClientView[],
  { search, all }: { search: string; all: boolean },
  now: Date,
): PageSection => {
  const groups = groupClients(clients);
  const found = groups.filter((group) => matchesSearch(group, search));
  const shown = found.slice(0, all ? MAX_SHOWN : FIRST);
  return {
    order: 40,
    id: "clients",
    title: "Who still calls legacy",
    shortTitle: "Clients",
    count: groups.length,
    about: "Callers of the legacy interface, by program and by what they ask for.",
    content: html`${tools(search)}
    ${rowsTable({
      rows: shown,
      heads: ["requests", "program", "asks for", "callers", "last"],
      none: "No client has this text.",
      route: "/clients",
      row: (group) => groupRow(group, now),
    })}
    ${more(found.length - shown.length, all)}`,
  };
};

const tools = (search: string): Html =>
  html`<form class="filters" role="search" autocomplete="off">
    <p class="wide scripted">
      <label for="find-clients">Program, path or caller contains</label>
      <input
        id="find-clients"
        name="clients"
        type="search"
        maxlength="${MAX_SEARCH}"
        value="${search}"
        spellcheck="false"
      />
    </p>
    <p><a href="/clients.csv" download="clients.csv" data-download>All as CSV</a></p>
  </form>`;

const more = (left: number, all: boolean): Html | string =>
  left <= 0
    ? ""
    : all
      ? html`<p class="none">… and ${formatNumber(left)} more, in <code>GET /clients</code>.</p>`
      : html`<p><a href="?all=clients#clients">Show ${formatNumber(left)} more</a></p>`;

const groupRow = ({ family, path, count, first, last, clients }: ClientGroup, now: Date): Html =>
  html`<tr data-key="${family} ${path}">
    <td class="amount"><strong>${formatNumber(count)}</strong></td>
    <th scope="row">${family === "" ? html`<span class="absent">no user agent</span>` : family}</th>
    <td><code>${path}</code></td>
    <td class="long">
      <details data-key="callers">
        <summary>${counted(clients.length, "caller")}</summary>
        <ul>
          ${clients.slice(0, MAX_CLIENTS).map(
            (client) =>
              html`<li>
                ${formatNumber(client.count)} by <code>${client.caller}</code>
                ${client.agent === "" ? "" : html`with ${client.agent}`},
                <span class="quiet">last ${timeAgo(client.last, now)} ago</span>
              </li>`,
          )}
          ${clients.length > MAX_CLIENTS ? html`<li>… and ${formatNumber(clients.length - MAX_CLIENTS)} more</li>` : ""}
        </ul>
      </details>
    </td>
    <td class="quiet">
      <span class="short-label">last </span>${timeAgo(last, now)} ago<span class="where">, since ${timeAt(first)}</span>
    </td>
  </tr>`;
