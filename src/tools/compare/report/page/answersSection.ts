import type { Report, SideLatency, StatusPair } from "../../../../compare/report.ts";
import { html, type Html } from "../../../../ui/html.ts";
import { section } from "../../../../ui/section.ts";
import { duration, formatNumber } from "../../../../ui/wording.ts";

/** The statuses of both sides beside each other, and how long each side took. */
export const answersSection = ({ statuses, latency, sides }: Report): Html =>
  section({
    id: "answers",
    title: "Statuses and latency",
    count: statuses.length,
    about: "Equal answers may be equal errors: these are the statuses of both sides, and the time that each took.",
    content: html`${statusTable(statuses, sides.candidate !== undefined)} ${latencyTable(latency)}`,
  });

const statusTable = (pairs: readonly StatusPair[], isJudged: boolean): Html =>
  pairs.length === 0
    ? html`<p class="none">No answer was compared.</p>`
    : html`<table class="plain">
        <caption>
          Statuses
        </caption>
        <thead>
          <tr>
            <th scope="col">endpoint</th>
            <th scope="col">${isJudged ? "expected" : "legacy"}</th>
            <th scope="col">${isJudged ? "candidate" : "ours"}</th>
            <th scope="col">answers</th>
          </tr>
        </thead>
        <tbody>
          ${pairs.map(
            ({ endpoint, from, to, answers }) =>
              html`<tr>
                <th scope="row">${endpoint}</th>
                <td>${from}</td>
                <td>${to}</td>
                <td>${formatNumber(answers)}</td>
              </tr>`,
          )}
        </tbody>
      </table>`;

const latencyTable = (latency: readonly SideLatency[]): Html | string =>
  latency.length === 0
    ? ""
    : html`<table class="plain">
        <caption>
          Latency
        </caption>
        <thead>
          <tr>
            <th scope="col">endpoint</th>
            <th scope="col">side</th>
            <th scope="col">p50</th>
            <th scope="col">p95</th>
          </tr>
        </thead>
        <tbody>
          ${latency.map(
            ({ endpoint, side, p50, p95 }) =>
              html`<tr>
                <th scope="row">${endpoint}</th>
                <td>${side}</td>
                <td>${duration(p50)}</td>
                <td>${duration(p95)}</td>
              </tr>`,
          )}
        </tbody>
      </table>`;
