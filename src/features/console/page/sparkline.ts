import { formatNumber } from "../../../ui/wording.ts";
import { html, type Html } from "../../../ui/html.ts";

const WIDTH = 120;
const HEIGHT = 26;

/** A line of requests over the last half hour; in words for those who do not see it. */
export const sparkline = (counts: readonly number[]): Html => {
  if (counts.length < 2) return html``;
  const most = Math.max(1, ...counts);
  const points = counts.map((count, i) => {
    const x = (WIDTH * i) / (counts.length - 1);
    return `${x.toFixed(1)},${(HEIGHT - 1 - ((HEIGHT - 3) * count) / most).toFixed(1)}`;
  });
  const label = `Requests in each half-minute of the last ${formatNumber(counts.length / 2)} minutes: between ${formatNumber(Math.min(...counts))} and ${formatNumber(Math.max(...counts))}, lately ${formatNumber(counts.at(-1) ?? 0)}`;
  return html`<svg
    class="spark"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    preserveAspectRatio="none"
    role="img"
    aria-label="${label}"
  >
    <polygon points="0,${HEIGHT} ${points.join(" ")} ${WIDTH},${HEIGHT}"></polygon>
    <polyline points="${points.join(" ")}"></polyline>
  </svg>`;
};
