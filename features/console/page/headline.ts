import { decodeHTML } from "entities";
import type { Core } from "../../../src/gateway/index.ts";
import { isTrouble, type Outcomes, RECENT_MINUTES, sumTraffic } from "../../../src/operation/index.ts";
import type { PageTrouble } from "../../../libraries/ui/consolePart.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import {
  counted,
  formatNumber,
  REMEMBERED_MS,
  secondOfDay,
  timeOfDay,
  whatFails,
} from "../../../libraries/ui/wording.ts";

/** Milliseconds without recurrence after which a recurring trouble counts as over. */
const OVER_MS = 30_000;

/** `calm`: the sentence if nothing is wrong. `failedUntil`: when clients got errors last (ISO 8601). */
type Shown = { troubles: readonly PageTrouble[]; calm: Html; failedUntil: string | undefined };

/** The answers to clients: wrong or many errors now, or within the last hour; few errors; none; and all is well. */
type Verdict = { state: "harm" | "over" | "few" | "unharmed" | "calm"; text: string | Html };

const colours = { harm: "trouble", over: "drift", few: "drift", unharmed: "drift", calm: "" };

/** Says what clients get, shows the last hours as a curve, and names the causes, each on a line. `title`: for a tab. */
export const headline = (traffic: Core["traffic"], shown: Shown, now: Date): { title: string; content: Html } => {
  const { troubles } = shown;
  const { state, text } = verdictOn(traffic, shown, now);
  // If no client is harmed, the tab names the other troubles.
  const [first, ...others] = state === "harm" ? [] : troubles;
  const left = others.reduce((sum, { count = 1 }) => sum + count, 0);
  const title = decodeHTML((first?.what ?? text).replaceAll(/<[^>]*>/g, ""));
  return {
    title: left === 0 ? title : `${title}, and ${left} more`,
    content: html`<div class="headline">
      <h1 class="${colours[state]}" data-verdict="${state}">${text}</h1>
      ${curve(traffic.curve(), now)}
      <ul class="troubles">
        ${troubles.map((trouble) => troubleItem(trouble, now))}
      </ul>
    </div>`,
  };
};

const verdictOn = (traffic: Core["traffic"], { troubles, calm, failedUntil }: Shown, now: Date): Verdict => {
  const minute = traffic.lastMinute();
  const { errors, requests } = sumTraffic(minute);
  const harms = troubles.flatMap(({ harm }) => harm ?? []);
  if (isTrouble({ errors, requests }))
    harms.unshift(`Clients get errors: ${ofAll(errors, requests)} in the last minute (${whatFails(minute)})`);
  const harm = harms.join("; ");
  if (harm !== "") return { state: "harm", text: harm.charAt(0).toUpperCase() + harm.slice(1) };
  if (failedUntil !== undefined && now.getTime() - Date.parse(failedUntil) < REMEMBERED_MS)
    return { state: "over", text: `Clients got errors until ${timeOfDay(failedUntil, now)}` };
  if (troubles.length === 0) return { state: "calm", text: calm };
  const recent = traffic.recent();
  const all = sumTraffic(recent);
  const answered = `${ofAll(all.requests - all.errors, all.requests)} requests were answered`;
  const few = `${answered} in the last ${RECENT_MINUTES} minutes (failed: ${whatFails(recent)})`;
  return all.errors === 0 ? { state: "unharmed", text: "No client gets an error" } : { state: "few", text: few };
};

const ofAll = (count: number, all: number): string => `${formatNumber(count)} of ${formatNumber(all)}`;

const isOver = ({ last }: Pick<PageTrouble, "last">, now: Date): boolean =>
  last !== undefined && now.getTime() - Date.parse(last) > OVER_MS;

/** ` since 12:03 UTC`; if it is over ` since 12:03 UTC, last at 12:05:10 UTC`. */
export const whenOf = ({ since, last }: Pick<PageTrouble, "since" | "last">, now: Date): Html => {
  const begin = since && html` since <time datetime="${since}">${timeOfDay(since, now)}</time>`;
  const end = last && isOver({ last }, now) && html`, last at <time datetime="${last}">${secondOfDay(last)}</time>`;
  return html`${begin}${end}`;
};

const troubleItem = (trouble: PageTrouble, now: Date): Html =>
  html`<li data-trouble="${trouble.name}" data-state="${isOver(trouble, now) ? "over" : "now"}">
    <p>
      <strong>${trouble.what}</strong
      >${whenOf(trouble, now)}${trouble.why && !isOver(trouble, now) ? ` (${trouble.why})` : ""}: ${trouble.effect}
    </p>
    <p class="press">${isOver(trouble, now) ? "Nothing has to be pressed" : trouble.press}</p>
  </li>`;

/** Units of the curve: a minute is one unit wide, or a thirtieth of the curve if there are fewer than 30 minutes. */
const [MIN_WIDTH, MAX_WIDTH, HEIGHT] = [30, 180, 36];

/** The requests and failures of each minute, as a curve with its figures. */
const curve = (minutes: readonly Outcomes[], now: Date): Html => {
  const all = minutes.reduce((sum, { requests }) => sum + requests, 0);
  if (all === 0) return html``;
  const failed = minutes.reduce((sum, { errors }) => sum + errors, 0);
  const most = minutes.reduce((max, { requests, errors }) => Math.max(max, requests, errors), 1);
  const worst = minutes.reduce((at, { errors }, i) => (errors > (minutes[at]?.errors ?? 0) ? i : at), 0);
  const worstAt = new Date(now.getTime() - (minutes.length - 1 - worst) * 60_000).toISOString();
  const width = Math.max(MIN_WIDTH, minutes.length);
  const bars = (counts: readonly number[]): string =>
    counts
      .map((count, i) => {
        const height = Math.ceil((HEIGHT * count) / most);
        return height === 0 ? "" : `M${width - minutes.length + i} ${HEIGHT}v-${height}h1v${height}z`;
      })
      .join("");
  const span = minutes.length < MAX_WIDTH ? (minutes.length > 1 ? `${minutes.length} minutes` : "minute") : "3 hours";
  const failures =
    failed === 0
      ? "none failed"
      : `${formatNumber(failed)} failed, most at ${timeOfDay(worstAt, now)}: ${formatNumber(minutes[worst]?.errors ?? 0)} in a minute`;
  return html`<figure class="curve" data-requests="${all}" data-failed="${failed}">
    <svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
      <path class="all" d="${bars(minutes.map(({ requests }) => requests))}" />
      <path class="failed" d="${bars(minutes.map(({ errors }) => errors))}" />
    </svg>
    <figcaption class="where">${counted(all, "request")} in the last ${span}, ${failures}</figcaption>
  </figure>`;
};
