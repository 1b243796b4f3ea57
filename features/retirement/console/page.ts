import type { PagePart, PageSection, PageTrouble } from "../../../libraries/ui/consolePart.ts";
import { joinModules } from "../../../libraries/ui/documentFrame.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { rowsTable, timeAgo, timeAt } from "../../../libraries/ui/parts.ts";
import { counted, formatNumber, percent, rate } from "../../../libraries/ui/wording.ts";
import type { ClientView, ListClients } from "../callers.ts";
import type { Flood } from "../flood.ts";
import { type ClientGroup, groupClients, matchesSearch } from "./clientGroups.ts";

/** Groups that are not folded, and clients of one group. */
const FIRST = 10;
const MAX_CLIENTS = 20;
const MAX_SEARCH = 200;

/** The section of callers of the legacy interface, and their number; and the caller that sends most requests. */
export const retirementPage = (list: ListClients, floodNow: () => Flood | undefined): PagePart => ({
  script: joinModules([new URL("client/clients.js", import.meta.url)]),
  show(now, query) {
    const clients = list();
    const callers = new Set(clients.map(({ caller, agent }) => `${caller} ${agent}`)).size;
    const search = (query.get("clients") ?? "").slice(0, MAX_SEARCH);
    const flood = floodNow();
    return {
      troubles: flood === undefined ? [] : [floodTrouble(flood)],
      sections: clients.length === 0 ? [] : [clientsSection(clients, callers, search, now)],
    };
  },
});

const floodTrouble = (flood: Flood): PageTrouble => ({
  name: "flood",
  what: `One caller sends ${percent(flood.share)} of all requests`,
  since: flood.since,
  effect: html`<code>${flood.caller}</code> sends ${rate(flood.rate)} a second. To allow each caller
    ${counted(flood.limit, "request")} a second, on both interfaces, set <code>RATE_LIMIT=${flood.limit}</code> in
    <code>CONFIG</code> and reload, or restart`,
  press: html`<a href="#traffic">Traffic</a>`,
});

/** The day on which the first of them called. */
const firstDay = (clients: readonly ClientView[]): string =>
  clients.reduce((earliest, { first }) => (first < earliest ? first : earliest), "9999").slice(0, 10);

const clientsSection = (clients: readonly ClientView[], callers: number, search: string, now: Date): PageSection => {
  const groups = groupClients(clients);
  const matching = groups.filter((group) => matchesSearch(group, search));
  const table = (rows: readonly ClientGroup[]): Html =>
    rowsTable({
      rows,
      heads: ["requests", "program", "asks for", "callers", "last"],
      none: "No client has this text.",
      route: "/clients",
      row: (group) => groupRow(group, now),
    });
  const left = matching.slice(FIRST);
  return {
    order: 40,
    id: "clients",
    title: "Clients",
    isEmpty: groups.length === 0,
    about: `Who still calls the legacy interface: ${counted(callers, "caller")} since ${firstDay(clients)}, by program and by what they ask for.`,
    content: html`${tools(search)} ${table(matching.slice(0, FIRST))}
    ${
      left.length === 0
        ? ""
        : html`<details data-key="left">
            <summary>Show ${formatNumber(left.length)} more</summary>
            ${table(left)}
          </details>`
    }`,
  };
};

const tools = (search: string): Html =>
  html`<form class="filters" role="search" autocomplete="off">
    <p class="scripted">
      <label for="find-clients">Program, path or caller contains</label>
      <input
        id="find-clients"
        name="clients"
        type="search"
        maxlength="${MAX_SEARCH}"
        value="${search}"
        spellcheck="false"
        data-search
      />
    </p>
    <p><a href="/clients.csv" download="clients.csv" data-download>All as CSV</a></p>
  </form>`;

const groupRow = ({ family, path, count, first, last, clients }: ClientGroup, now: Date): Html =>
  html`<tr data-key="${family} ${path}">
    <td><strong>${formatNumber(count)}</strong></td>
    <th scope="row"><span class="long">${family === "" ? html`<i>no user agent</i>` : family}</span></th>
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
    <td class="quiet"><span class="short-label">last </span>${timeAgo(last, now)} ago, since ${timeAt(first)}</td>
  </tr>`;
