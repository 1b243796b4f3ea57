import { comparisonResults } from "../../../compare/results.ts";
import { sparkline } from "../../../ui/charts.ts";
import type { PageSection } from "../../../ui/consolePart.ts";
import { html, type Html } from "../../../ui/html.ts";
import { timeAgo } from "../../../ui/timeAgo.ts";
import { counted, duration, formatNumber, percent, rate } from "../../../ui/wording.ts";
import { type Stage, stageNames } from "../stage.ts";
import type { Latency, Parity, StagesView, StageView } from "../views.ts";

const results = ["equal", "explained", "expected", "drift", "unexplained"] as const;
const BAR_WIDTH = 400;
/** The least width of a part that is not empty, so that it can be seen. */
const MIN_PART_WIDTH = 5;

/** Every endpoint: its stage, its traffic, the results of comparisons, and the button that moves it. */
export const stagesSection = (stages: StagesView, hasModern: boolean, now: Date): PageSection => ({
  order: 10,
  id: "stages",
  title: "Stages",
  count: Object.keys(stages).length,
  about: hasModern
    ? "Who answers each endpoint: legacy, legacy with modern compared beside it, modern for some callers, or modern."
    : "No modern implementation is configured, so that there is nothing to move to: legacy answers every endpoint.",
  content: html`<table class="stages">
    <thead>
      <tr>
        ${["endpoint", "stage", "traffic", "hits", "p50 / p95", "parity"].map((head) => html`<th scope="col">${head}</th>`)}
        ${hasModern ? html`<th scope="col" class="scripted"><span class="unseen">move</span></th>` : ""}
      </tr>
    </thead>
    <tbody>
      ${Object.entries(stages).map(([endpoint, stage]) => row(endpoint, stage, hasModern, now))}
    </tbody>
  </table>`,
});

const row = (endpoint: string, view: StageView, hasModern: boolean, now: Date): Html =>
  html`<tr data-key="${endpoint}" data-endpoint="${endpoint}" data-stage="${view.stage}" data-share="${view.share}">
    <th scope="row">
      <span class="name">${endpoint}</span>
      <span class="why">for ${timeAgo(view.since, now)}, by ${view.by}${view.why === "" ? "" : `: ${view.why}`}</span>
    </th>
    <td class="at">
      ${stageMark(view)}${view.gateSays === undefined ? "" : html`<span class="says">${view.gateSays}</span>`}
    </td>
    <td class="traffic">
      <span class="amount">${rate(view.rate)}<span class="unit"> /s</span></span
      >${sparkline(view.spark)}
    </td>
    <td class="hits"><span class="short-label">hits </span>${percent(view.hitRatio)}</td>
    <td class="latency">
      ${side("legacy", view.latency.legacy)}${side("modern", view.latency.modern)}${
        view.errorRate > 0
          ? html`<span class="failing ${view.errorRate > (view.gate?.errorRate ?? 0.01) ? "over-bound" : ""}"
              >${percent(view.errorRate)} of modern failed</span
            >`
          : ""
      }
    </td>
    <td class="parity">${parityCell(endpoint, view)}</td>
    ${
      hasModern
        ? html`<td class="move scripted">
            <button type="button" data-move="${endpoint}" aria-haspopup="dialog">
              Move<span class="unseen"> ${endpoint}</span>
            </button>
          </td>`
        : ""
    }
  </tr>`;

const side = (name: string, latency: Latency): Html =>
  html`<span class="side"
    ><span class="quiet">${name}</span> ${
      latency === undefined
        ? html`<span class="quiet" title="not asked">–</span>`
        : html`<span>${duration(latency.p50)} <span class="quiet">/</span> ${duration(latency.p95)}</span>`
    }</span
  >`;

const parityCell = (endpoint: string, { parity: found, gate }: StageView): Html => {
  const share = parityShare(found);
  if (share === undefined) return html`<span class="quiet">nothing compared</span>`;
  const needed = gate === undefined ? "" : `, needs ${percent(gate.parity)}`;
  return html`<span class="amount"
      ><strong>${percent(share)}</strong> <span class="quiet">≥ ${percent(found.lower)}${needed}</span></span
    >
    ${parityBar(found)}
    <span class="quiet"
      >${counted(found.compared, "answer")}${
        found.unexplained > 0
          ? html` ·
              <a href="#differences" class="unexplained" data-see="${endpoint}">${found.unexplained} unexplained</a>`
          : ""
      }</span
    >`;
};

/** A stage in words, and as steps out of four. */
const stageMark = ({ stage, share }: Pick<Stage, "stage" | "share">): Html => {
  const at = stageNames.indexOf(stage);
  return html`<span class="stage ${stage}"
    ><svg class="steps" viewBox="0 0 52 8" aria-hidden="true">
      ${stageNames.map(
        (_, i) =>
          html`<rect
            class="${i <= at ? "reached" : "ahead"}"
            x="${i * 13 + 1}"
            y="1"
            width="11"
            height="6"
            rx="2"
          ></rect>`,
      )}
    </svg>
    <strong>${stage}</strong>${stage === "legacy" ? "" : html` <span class="share">${share} %</span>`}</span
  >`;
};

/** `canary 5 %`; legacy has no share. */
export const stageText = ({ stage, share }: Pick<Stage, "stage" | "share">): string =>
  stage === "legacy" ? stage : `${stage} ${share} %`;

/** The share (0-1) of compared answers without an unexplained difference, drift left out; `undefined` before the first comparison. */
export const parityShare = ({ equal, explained, expected, unexplained }: Parity): number | undefined => {
  const fine = equal + explained + expected;
  return fine + unexplained === 0 ? undefined : fine / (fine + unexplained);
};

/** The results of comparisons as parts of a bar, with a tick at the lower bound of the share. */
const parityBar = (parity: Parity): Html => {
  const shown = results.filter((kind) => parity[kind] > 0);
  const total = shown.reduce((sum, kind) => sum + parity[kind], 0);
  if (total === 0) return html``;
  const counts = shown.map((kind) => `${comparisonResults[kind].sign} ${formatNumber(parity[kind])} ${kind}`);
  const label = [
    ...shown.map((kind) => `${formatNumber(parity[kind])} ${kind}`),
    `at least ${percent(parity.lower)} with confidence`,
  ];
  const tick = (BAR_WIDTH * Math.min(1, Math.max(0, parity.lower))).toFixed(1);
  return html`<svg
    class="parity-bar"
    viewBox="0 0 ${BAR_WIDTH} 14"
    preserveAspectRatio="none"
    role="img"
    aria-label="${label.join(", ")}"
  >
    <title>${counts.join("\n")}</title>
    ${parts(parity, shown, total)}
    <line x1="${tick}" x2="${tick}" y1="0" y2="14"></line>
  </svg>`;
};

const parts = (parity: Parity, shown: readonly (typeof results)[number][], total: number): Html[] => {
  const free = BAR_WIDTH - MIN_PART_WIDTH * shown.length;
  let x = 0;
  return shown.map((kind) => {
    const width = MIN_PART_WIDTH + (free * parity[kind]) / total;
    const part = html`<rect class="${kind}" x="${x.toFixed(1)}" y="3" width="${width.toFixed(1)}" height="8"></rect>`;
    x += width;
    return part;
  });
};
