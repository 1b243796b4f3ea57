import type { PageSection } from "../../../ui/consolePart.ts";
import { html, type Html } from "../../../ui/html.ts";
import { minute } from "../../../ui/wording.ts";
import { duration, formatNumber, percent, rate } from "../../../ui/wording.ts";
import { type HistoryPoint, type HistoryRange, historyRangeNames, historyRanges } from "../history/slot.ts";
import { type Move, stageText } from "../stage.ts";
import { type Curve, type Mark, timeChart } from "./timeChart.ts";

/** What the section shows: `endpoint` is undefined for all together. */
export type HistoryView = {
  endpoint: string | undefined;
  range: HistoryRange;
  points: readonly HistoryPoint[];
  /** The moves of these endpoints, and the starts of gateways in milliseconds since the epoch. */
  moves: readonly Move[];
  starts: readonly number[];
};

const MAX_EVENTS = 20;

/** What the address of the page asks for, where it asks for something that there is. */
export const readHistoryQuery = (
  query: URLSearchParams,
  endpoints: readonly string[],
): Pick<HistoryView, "endpoint" | "range"> => ({
  endpoint: endpoints.find((name) => name === query.get("endpoint")),
  range: historyRangeNames.find((name) => name === query.get("range")) ?? "30m",
});

/** Requests, hits, parity, times and failures of both sides over time, with moves and restarts. */
export const historySection = (view: HistoryView, endpoints: readonly string[]): PageSection => {
  const { endpoint, range, points } = view;
  const requests = points.reduce((sum, one) => sum + one.requests, 0);
  const events = eventsIn(view);
  return {
    order: 15,
    id: "history",
    title: "History",
    count: requests,
    isSummary: true,
    about: `What happened in the last ${historyRanges[range].title}, to ${endpoint ?? "all endpoints together"}. Times are UTC.`,
    content: html`${choices(view, endpoints)} ${charts(view, events)} ${eventList(events)} ${historyTable(view, events)}`,
  };
};

/** The address that shows the history of one endpoint, or of all together. */
export const historyHref = (endpoint: string | undefined, range: HistoryRange): string =>
  `?${new URLSearchParams({ endpoint: endpoint ?? "", range }).toString()}#history`;

const choices = ({ endpoint, range }: HistoryView, endpoints: readonly string[]): Html =>
  html`<nav class="choose" aria-label="What the history shows">
    <ul>
      ${historyRangeNames.map((name) => choice(historyRanges[name].title, historyHref(endpoint, name), name === range))}
    </ul>
    <ul>
      ${[undefined, ...endpoints].map((name) => choice(name ?? "all endpoints", historyHref(name, range), name === endpoint))}
    </ul>
  </nav>`;

const choice = (text: string, href: string, isChosen: boolean): Html =>
  html`<li>
    <a href="${href}" data-key="${text}" ${isChosen ? html`aria-current="true"` : ""}>${text}</a>
  </li>`;

/** Something that happened at one time. */
type HistoryEvent = { at: number; text: string; isMove: boolean };

const eventsIn = ({ range, points, moves, starts }: HistoryView): HistoryEvent[] => {
  const from = points[0]?.at ?? 0;
  const moved = moves.map(({ at, endpoint, from: before, to, by, gate }) => ({
    at: Date.parse(at),
    text:
      gate === undefined
        ? `${endpoint}: ${stageText(before)} → ${stageText(to)}, by ${by}`
        : `${endpoint}: gate ${gate}, by ${by}`,
    isMove: true,
  }));
  const started = starts.map((at) => ({ at, text: "a gateway started", isMove: false }));
  const until = from + historyRanges[range].step * points.length;
  return [...moved, ...started].filter(({ at }) => at >= from && at < until).toSorted((a, b) => b.at - a.at);
};

const share = (part: number, of: number): number | undefined => (of === 0 ? undefined : part / of);

const charts = (view: HistoryView, events: readonly HistoryEvent[]): Html => {
  const { points, range, endpoint } = view;
  const { step, slots } = historyRanges[range];
  const from = points[0]?.at ?? 0;
  const marks: Mark[] = events.map(({ at, text, isMove }) => ({
    at: (at - from) / (step * slots),
    title: `${clock(at, range)} ${text}`,
    kind: isMove ? "move" : "start",
  }));
  const curve = (name: string, kind: string, valueOf: (point: HistoryPoint) => number | undefined): Curve => ({
    name,
    kind,
    values: points.map(valueOf),
  });
  const draw = (title: string, format: (value: number) => string, curves: Curve[], most?: number): Html =>
    timeChart({ title, format, curves, marks, most, about: `${title} of ${endpoint ?? "all endpoints"}` });
  return html`<div class="charts">
      ${draw("Requests a second", rate, [curve("requests", "requests", ({ requests }) => requests / (step / 1000))])}
      ${draw("Hit ratio", percent, [curve("hits", "hits", ({ hits, requests }) => share(hits, requests))], 1)}
      ${draw("Parity", percent, [curve("parity", "parity", ({ good, judged }) => share(good, judged))], 1)}
      ${draw("Answer time", duration, [
        curve("legacy p50", "legacy", ({ legacy }) => legacy.p50),
        curve("legacy p95", "legacy p95", ({ legacy }) => legacy.p95),
        curve("modern p50", "modern-side", ({ modern }) => modern.p50),
        curve("modern p95", "modern-side p95", ({ modern }) => modern.p95),
      ])}
      ${draw("Failures", percent, [
        curve("legacy", "legacy", ({ legacy }) => share(legacy.failed, legacy.asked)),
        curve("modern", "modern-side", ({ modern }) => share(modern.failed, modern.asked)),
      ])}
    </div>
    <div class="time-axis" aria-hidden="true">
      ${[0, 0.25, 0.5, 0.75].map((at) => html`<span>${clock(from + at * step * slots, range)}</span>`)}<span>now</span>
    </div>
    <p class="at-time scripted">
      <label for="history-at">Time at which the charts are read</label>
      <input id="history-at" type="range" min="0" max="${slots - 1}" value="${slots - 1}" step="1" />
      <output id="history-reading" for="history-at"></output>
    </p>`;
};

const clock = (at: number, range: HistoryRange): string => {
  const iso = new Date(at).toISOString();
  return range === "14d" ? `${iso.slice(5, 10)} ${iso.slice(11, 16)}` : iso.slice(11, 16);
};

const eventList = (events: readonly HistoryEvent[]): Html =>
  events.length === 0
    ? html``
    : html`<ul class="events">
        ${events.slice(0, MAX_EVENTS).map(
          ({ at, text, isMove }) =>
            html`<li>
              <span class="${isMove ? "move" : "start"}" aria-hidden="true">${isMove ? "│" : "┆"}</span>
              <time datetime="${new Date(at).toISOString()}">${minute(new Date(at).toISOString())}</time> ${text}
            </li>`,
        )}
        ${events.length > MAX_EVENTS ? html`<li>… and ${formatNumber(events.length - MAX_EVENTS)} before that</li>` : ""}
      </ul>`;

const heads = [
  "time",
  "requests",
  "hits",
  "parity",
  "legacy p50 / p95",
  "legacy failed",
  "modern p50 / p95",
  "modern failed",
  "",
];

const historyTable = ({ points, range }: HistoryView, events: readonly HistoryEvent[]): Html => {
  const { step } = historyRanges[range];
  const part = (value: number | undefined): string => (value === undefined ? "–" : percent(value));
  const timesOf = ({ p50, p95 }: HistoryPoint["legacy"]): string =>
    p50 === undefined || p95 === undefined ? "–" : `${duration(p50)} / ${duration(p95)}`;
  return html`<details class="scroll as-table" data-key="history-table">
    <summary>As a table</summary>
    <table class="rows compact">
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head === "" ? html`<span class="unseen">what happened</span>` : head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${points.toReversed().map(
          ({ at, requests, hits, good, judged, legacy, modern }) =>
            html`<tr data-key="${at}">
              <th scope="row">${clock(at, range)}</th>
              <td>${formatNumber(requests)}</td>
              <td>${part(share(hits, requests))}</td>
              <td>${part(share(good, judged))}</td>
              <td>${timesOf(legacy)}</td>
              <td>${part(share(legacy.failed, legacy.asked))}</td>
              <td>${timesOf(modern)}</td>
              <td>${part(share(modern.failed, modern.asked))}</td>
              <td>
                ${events
                  .filter((one) => one.at >= at && one.at < at + step)
                  .map(({ text }) => text)
                  .join("; ")}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </details>`;
};
