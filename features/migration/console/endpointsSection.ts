import type { PageSection } from "../../../libraries/ui/consolePart.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { RECENT, rowsTable } from "../../../libraries/ui/parts.ts";
import { counted, duration, formatNumber, percent } from "../../../libraries/ui/wording.ts";
import { RECENT_ANSWERS } from "../track.ts";
import type { StagesView, StageView } from "../views.ts";

type ViewEntry = [endpoint: string, view: StageView];

/**
 * Every endpoint with its traffic, without a modern side. The busiest come first; those without requests are folded.
 */
export const endpointsSection = (stages: StagesView, hint: Html): PageSection => {
  const all = Object.entries(stages).toSorted(([, a], [, b]) => b.requests - a.requests);
  const asked = all.filter(([, { requests }]) => requests > 0);
  const idle = all.filter(([, { requests }]) => requests === 0);
  return {
    order: 10,
    id: "stages",
    title: "Endpoints",
    count: all.length,
    about: `Requests, 5xx and hits are those of the ${RECENT}, p95 is that of legacy’s last ${RECENT_ANSWERS} answers.`,
    content: html`${
      asked.length === 0
        ? html`<p class="about">
            ${hint} Legacy answers every endpoint until <code>MODERN_URL</code> names the new implementation and you
            move one.
          </p>`
        : trafficTable(asked)
    }
    ${
      idle.length === 0
        ? ""
        : html`<details data-key="idle">
            <summary>${counted(idle.length, "endpoint")} without a request in the ${RECENT}</summary>
            ${trafficTable(idle)}
          </details>`
    }`,
  };
};

/** How an endpoint comes to show traffic: for a gateway that has had no request. */
export const firstRequest = (address: string): Html =>
  html`Send the gateway a request, <code>curl ${address}/…</code>: its endpoint then shows traffic here.`;

const trafficTable = (views: readonly ViewEntry[]): Html =>
  rowsTable({
    rows: views,
    heads: ["endpoint", `requests, ${RECENT}`, `5xx, ${RECENT}`, `hits, ${RECENT}`, `p95, last ${RECENT_ANSWERS}`],
    none: "None.",
    route: "/stages",
    row: ([endpoint, { requests, serverErrors, hitRatio, latency }]) =>
      html`<tr id="stage-${endpoint}">
        <th scope="row">${endpoint}</th>
        <td><span class="short-label">requests </span>${formatNumber(requests)}</td>
        <td>
          <span class="short-label">5xx </span
          ><span class="${serverErrors > 0 ? "trouble" : ""}">${formatNumber(serverErrors)}</span>
        </td>
        <td><span class="short-label">hits </span>${percent(hitRatio ?? Number.NaN)}</td>
        <td>
          <span class="short-label">p95 </span>${latency.legacy === undefined ? "–" : duration(latency.legacy.p95)}
        </td>
      </tr>`,
  });
