import { decodeHTML } from "entities";
import type { Core } from "../../../src/gateway/index.ts";
import { isTrouble, type Outcomes, sumTraffic } from "../../../src/operation/index.ts";
import type { PageTrouble } from "../../../libraries/ui/consolePart.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { counted, formatNumber, secondOfDay, timeOfDay, whatFails } from "../../../libraries/ui/wording.ts";

/**
 * Milliseconds for which the page says that clients got errors, and after which something that came again and again is
 * over.
 */
const REMEMBERED = 3_600_000;
const OVER = 30_000;

/** `calm`: the sentence that stands where nothing is wrong. `failedUntil`: when clients got errors last (ISO 8601). */
type Shown = { troubles: readonly PageTrouble[]; calm: Html; failedUntil: string | undefined };

type Verdict = { kind: "trouble" | "drift" | ""; text: string | Html };

/** Says what clients get, shows the last hours as a curve, and names the causes, one a line. `title`: for a tab. */
export const headline = (traffic: Core["traffic"], shown: Shown, now: Date): { title: string; content: Html } => {
  const { troubles } = shown;
  const { kind, text } = verdictOn(traffic, shown, now);
  // Where no client is harmed, a tab says what else there is.
  const [first, ...others] = kind === "trouble" ? [] : troubles;
  const left = others.reduce((sum, { count = 1 }) => sum + count, 0);
  const title = decodeHTML((first?.what ?? text).replaceAll(/<[^>]*>/g, ""));
  return {
    title: left === 0 ? title : `${title}, and ${left} more`,
    content: html`<div class="headline">
        <h1${kind === "" ? "" : html` class="${kind}"`}>${text}</h1>
        ${curve(traffic.curve(), now)}
      </div>
      <ul class="troubles">
        ${troubles.map((trouble) => troubleItem(trouble, now))}
      </ul>`,
  };
};

const verdictOn = (traffic: Core["traffic"], { troubles, calm, failedUntil }: Shown, now: Date): Verdict => {
  const minute = traffic.lastMinute();
  const { errors, requests } = sumTraffic(minute);
  const ofAll = (count: number): string => `${formatNumber(count)} of ${formatNumber(requests)}`;
  const harms = troubles.flatMap(({ harm }) => harm ?? []);
  if (isTrouble({ errors, requests }))
    harms.unshift(`Clients get errors: ${ofAll(errors)} in the last minute (${whatFails(minute)})`);
  const harm = harms.join("; ");
  if (harm !== "") return { kind: "trouble", text: harm.charAt(0).toUpperCase() + harm.slice(1) };
  if (failedUntil !== undefined && now.getTime() - Date.parse(failedUntil) < REMEMBERED)
    return { kind: "drift", text: `Clients got errors until ${timeOfDay(failedUntil, now)}` };
  if (troubles.length === 0) return { kind: "", text: calm };
  const few = `${ofAll(requests - errors)} requests were answered in the last minute (failed: ${whatFails(minute)})`;
  return { kind: "drift", text: errors === 0 ? "No client gets an error" : few };
};

const troubleItem = ({ what, since, last, effect, why, press }: PageTrouble, now: Date): Html => {
  const isOver = last !== undefined && now.getTime() - Date.parse(last) > OVER;
  const begin = since === undefined ? "" : html` since <time datetime="${since}">${timeOfDay(since, now)}</time>`;
  const when = isOver ? html`${begin}, last at <time datetime="${last}">${secondOfDay(last)}</time>` : begin;
  return html`<li>
    <p><strong>${what}</strong>${when}: ${effect}${why && !isOver ? html` <span class="where">(${why})</span>` : ""}</p>
    <p class="press">${press}</p>
  </li>`;
};

/** Units of the curve: a minute is one wide. */
const [WIDTH, HEIGHT] = [180, 36];

/** The requests and failures of each minute, as a curve with its figures. */
const curve = (minutes: readonly Outcomes[], now: Date): Html => {
  const all = minutes.reduce((sum, { requests }) => sum + requests, 0);
  if (all === 0) return html``;
  const failed = minutes.reduce((sum, { errors }) => sum + errors, 0);
  const most = minutes.reduce((max, { requests, errors }) => Math.max(max, requests, errors), 1);
  const worst = minutes.reduce((at, { errors }, i) => (errors > (minutes[at]?.errors ?? 0) ? i : at), 0);
  const worstAt = new Date(now.getTime() - (minutes.length - 1 - worst) * 60_000).toISOString();
  const bars = (counts: readonly number[]): string =>
    counts
      .map((count, i) => {
        const height = Math.ceil((HEIGHT * count) / most);
        return height === 0 ? "" : `M${WIDTH - minutes.length + i} ${HEIGHT}v-${height}h1v${height}z`;
      })
      .join("");
  const span = minutes.length < WIDTH ? (minutes.length > 1 ? `${minutes.length} minutes` : "minute") : "3 hours";
  const failures =
    failed === 0
      ? "none failed"
      : `${formatNumber(failed)} failed, most at ${timeOfDay(worstAt, now)}: ${formatNumber(minutes[worst]?.errors ?? 0)} in a minute`;
  return html`<figure class="curve">
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
      <path class="all" d="${bars(minutes.map(({ requests }) => requests))}" />
      <path class="failed" d="${bars(minutes.map(({ errors }) => errors))}" />
    </svg>
    <figcaption class="where">${counted(all, "request")} in the last ${span}, ${failures}</figcaption>
  </figure>`;
};
