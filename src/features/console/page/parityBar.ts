import { formatNumber } from "../../../ui/wording.ts";
import { comparisonResults } from "../../../compare/results.ts";
import type { Parity } from "../../migration/views.ts";
import { html, type Html } from "../../../ui/html.ts";
import { percent } from "./amounts.ts";

const kinds = ["equal", "explained", "expected", "drift", "unexplained"] as const;
const WIDTH = 400;
/** What is there at all is seen. */
const LEAST = 5;

/** The share of answers that are as they should be, drift counted neither way; none where nothing was compared. */
export const parityShare = ({ equal, explained, expected, unexplained }: Parity): number | undefined => {
  const fine = equal + explained + expected;
  return fine + unexplained === 0 ? undefined : fine / (fine + unexplained);
};

/** What the compared answers came to, as parts of a bar, with a tick at the bound that the share holds with confidence. */
export const parityBar = (parity: Parity): Html => {
  const shown = kinds.filter((kind) => parity[kind] > 0);
  const total = shown.reduce((sum, kind) => sum + parity[kind], 0);
  if (total === 0) return html``;
  const label = [
    ...shown.map((kind) => `${formatNumber(parity[kind])} ${kind}`),
    `at least ${percent(parity.lower)} with confidence`,
  ];
  const tick = (WIDTH * Math.min(1, Math.max(0, parity.lower))).toFixed(1);
  return html`<svg
    class="parity-bar"
    viewBox="0 0 ${WIDTH} 14"
    preserveAspectRatio="none"
    role="img"
    aria-label="${label.join(", ")}"
  >
    <title>
      ${shown.map((kind) => `${comparisonResults[kind].sign} ${formatNumber(parity[kind])} ${kind}`).join("\n")}
    </title>
    ${parts(parity, shown, total)}
    <line x1="${tick}" x2="${tick}" y1="0" y2="14"></line>
  </svg>`;
};

/** Each as wide as its share, and never too narrow to be seen. */
const parts = (parity: Parity, shown: readonly (typeof kinds)[number][], total: number): Html[] => {
  const free = WIDTH - LEAST * shown.length;
  let x = 0;
  return shown.map((kind) => {
    const width = LEAST + (free * parity[kind]) / total;
    const part = html`<rect class="${kind}" x="${x.toFixed(1)}" y="3" width="${width.toFixed(1)}" height="8"></rect>`;
    x += width;
    return part;
  });
};
