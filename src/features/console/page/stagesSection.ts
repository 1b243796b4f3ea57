import { counted } from "../../../ui/wording.ts";
import type { Latency, StageView } from "../../migration/views.ts";
import { html, type Html } from "../../../ui/html.ts";
import { section } from "../../../ui/section.ts";
import type { AdminPageData } from "./adminPageData.ts";
import { duration, percent, rate } from "./amounts.ts";
import { parityBar, parityShare } from "./parityBar.ts";
import { sparkline } from "./sparkline.ts";
import { stageMark } from "./stageMark.ts";
import { timeAgo } from "./timeAgo.ts";

/** Every endpoint: who answers it, how it fares, and the button that moves it. */
export const stagesSection = ({ stages, hasModern }: AdminPageData, now: Date): Html =>
  section({
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
    <td class="parity">${parity(endpoint, view)}</td>
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

const parity = (endpoint: string, { parity: found, gate }: StageView): Html => {
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
