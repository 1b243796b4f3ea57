import { html, type Html } from "./html.ts";
import { formatNumber, percent } from "./wording.ts";

const LINE_WIDTH = 120;
const LINE_HEIGHT = 26;

/** A share (0-1) as a bar and in words: `38 % of the room is taken`. */
export const fillBar = (share: number, ofWhat: string): Html =>
  html`<progress value="${Math.min(1, share)}" aria-label="${percent(Math.min(1, share))} ${ofWhat}"></progress>`;

/** Requests in each minute as a line, and in words; empty for fewer than two counts. */
export const sparkline = (counts: readonly number[]): Html => {
  if (counts.length < 2) return html``;
  const most = Math.max(1, ...counts);
  const points = counts.map((count, i) => {
    const x = (LINE_WIDTH * i) / (counts.length - 1);
    return `${x.toFixed(1)},${(LINE_HEIGHT - 1 - ((LINE_HEIGHT - 3) * count) / most).toFixed(1)}`;
  });
  const label = `Requests in each of the last ${formatNumber(counts.length)} minutes: between ${formatNumber(Math.min(...counts))} and ${formatNumber(Math.max(...counts))}, lately ${formatNumber(counts.at(-1) ?? 0)}`;
  return html`<svg
    class="spark"
    viewBox="0 0 ${LINE_WIDTH} ${LINE_HEIGHT}"
    preserveAspectRatio="none"
    role="img"
    aria-label="${label}"
  >
    <polygon points="0,${LINE_HEIGHT} ${points.join(" ")} ${LINE_WIDTH},${LINE_HEIGHT}"></polygon>
    <polyline points="${points.join(" ")}"></polyline>
  </svg>`;
};
