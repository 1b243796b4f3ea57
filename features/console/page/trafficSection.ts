import type { Core } from "../../../src/gateway/index.ts";
import type { CacheView } from "../cacheView.ts";
import {
  isTrouble,
  type NamedTraffic,
  RECENT_MINUTES,
  RECENT_TIMES,
  sumTraffic,
} from "../../../src/operation/index.ts";
import type { PageSection } from "../../../libraries/ui/consolePart.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { counted, duration, formatNumber, percent, rate } from "../../../libraries/ui/wording.ts";

/** Endpoints of each interface that are not folded, and of those that fail. */
const FIRST = 6;
const FIRST_FAILING = 12;

type Figures = Omit<NamedTraffic, "name">;
/** The recent traffic of one interface. */
type InterfaceTraffic = { key: string; title: string; rows: NamedTraffic[]; total: Figures; isCached: boolean };

/**
 * The answers to clients of both interfaces in the last minutes, by endpoint: those that fail and the busiest are
 * shown, the others are folded. `facts` of all traffic come from features. `address`: of the new interface.
 */
export const trafficSection = (
  { traffic, shared }: Pick<Core, "traffic"> & Pick<CacheView, "shared">,
  interfaces: readonly InterfaceTraffic[],
  facts: readonly Html[],
  address: string,
): PageSection => {
  const perSecond = sumTraffic(interfaces.map(({ total }) => total)).rate;
  const idle = traffic.byEndpoint().filter(({ requests }) => requests === 0);
  const ofWhom = shared === undefined ? "" : ", of this gateway alone";
  return {
    order: 5,
    id: "traffic",
    title: "Traffic",
    about: `The last ${RECENT_MINUTES} minutes${ofWhom}. The p95 is that of the last ${RECENT_TIMES} answers that were not cached.`,
    content: html`<p class="facts">
        ${[html`<strong>${rate(perSecond)}</strong> requests a second`, ...facts].map((fact) => html`<span>${fact}</span>`)}
      </p>
      ${traffic.hasBegun() ? table(interfaces.map(firstRows), true) : firstRequest(address)} ${foldedRows(interfaces)}
      ${
        idle.length === 0
          ? ""
          : html`<details data-key="idle">
              <summary>${counted(idle.length, "endpoint")} without a request in the new interface</summary>
              <p class="quiet">${idle.map(({ name }) => name).join(", ")}</p>
            </details>`
      }`,
  };
};

/** Says how to make an endpoint show traffic, on the page of a gateway that has had no request. */
const firstRequest = (address: string): Html =>
  html`<p class="about" data-hint="first-request">
    Send the gateway a request, <code>curl ${address}/…</code>: its endpoint then shows traffic here.
  </p>`;

/** The interfaces that have had traffic in the last minutes, their endpoints by urgency. */
export const interfacesOf = ({ traffic, settings }: Pick<Core, "traffic" | "settings">): InterfaceTraffic[] => {
  const isCached = settings.CACHE_LEGACY.length > 0;
  const ours = traffic.byEndpoint().filter(({ requests }) => requests > 0);
  const reads = traffic.reads().map(({ name, ...counts }) => ({ name: name.replace(/^legacy /, ""), ...counts }));
  const old = [...reads, ...traffic.others()].filter(({ requests }) => requests > 0);
  return [
    { key: "ours", title: "New interface", rows: ours, isCached: true },
    { key: "old", title: "Old clients", rows: old, isCached },
  ]
    .filter(({ rows }) => rows.length > 0)
    .map((each) => ({ ...each, total: sumTraffic(each.rows), rows: each.rows.toSorted(byUrgency) }));
};

const byUrgency = (a: NamedTraffic, b: NamedTraffic): number => b.errors - a.errors || b.requests - a.requests;

const isShown = ({ errors }: NamedTraffic, place: number): boolean => place < (errors > 0 ? FIRST_FAILING : FIRST);

const firstRows = (all: InterfaceTraffic): InterfaceTraffic => ({ ...all, rows: all.rows.filter(isShown) });

const foldedRows = (interfaces: readonly InterfaceTraffic[]): Html => {
  const folded = interfaces
    .map((each) => ({ ...each, rows: each.rows.filter((row, place) => !isShown(row, place)) }))
    .filter(({ rows }) => rows.length > 0);
  const all = folded.flatMap(({ rows }) => rows);
  if (all.length === 0) return html``;
  const { errors } = sumTraffic(all);
  return html`<details data-key="others">
    <summary>
      ${formatNumber(all.length)} more with less traffic,
      ${errors === 0 ? "and no failure" : `${formatNumber(errors)} failed`}
    </summary>
    ${table(folded, false)}
  </details>`;
};

/** `isWhole`: the first row of an interface sums up the whole interface. */
const table = (interfaces: readonly InterfaceTraffic[], isWhole: boolean): Html =>
  html`<table class="traffic">
    <thead>
      <tr>
        <th scope="col"><span class="unseen">endpoint</span></th>
        ${["requests", "cached", "p95", "failed"].map((head) => html`<th scope="col">${head}</th>`)}
      </tr>
    </thead>
    ${interfaces.map(
      ({ key, title, rows, total, isCached }) =>
        html`<tbody data-key="${key}">
          ${figuresRow(title, isWhole ? total : undefined, isCached)}
          ${rows.map(({ name, ...figures }) => figuresRow(name, figures, isCached, true))}
        </tbody>`,
    )}
  </table>`;

const figuresRow = (name: string, figures: Figures | undefined, isCached: boolean, isRow = false): Html => {
  if (figures === undefined)
    return html`<tr class="whole" data-key="whole">
      <th scope="rowgroup" colspan="5">${name}</th>
    </tr>`;
  const { requests, hits, errors, p95 } = figures;
  return html`<tr class="${isRow ? "" : "whole"}" data-key="${isRow ? name : "whole"}">
    <th scope="${isRow ? "row" : "rowgroup"}">${name}</th>
    <td data-figure="requests">${formatNumber(requests)}</td>
    <td data-figure="cached">${isCached ? percent(hits / requests) : "–"}</td>
    <td data-figure="p95">${p95 === undefined ? "" : duration(p95)}</td>
    <td class="${isTrouble(figures) ? "trouble" : "quiet"}" data-figure="failed">${formatNumber(errors)}</td>
  </tr>`;
};

/** The sentence while nothing is wrong: the share of old clients' reads, or of all requests, that the cache answers. */
export const calmSentence = ({ traffic }: Pick<Core, "traffic">): Html => {
  const [reads, ours] = [sumTraffic(traffic.reads()), sumTraffic(traffic.byEndpoint())];
  if (reads.requests > 0) return html`The cache answers ${percent(reads.hits / reads.requests)} of old clients’ reads`;
  if (ours.requests > 0) return html`The cache answers ${percent(ours.hits / ours.requests)} of requests`;
  if (sumTraffic(traffic.others()).requests > 0) return html`Requests pass to legacy`;
  return traffic.hasBegun()
    ? html`No request in the last ${RECENT_MINUTES} minutes`
    : html`Ready for the first request`;
};
