import type { Report } from "../../../../compare/report.ts";
import { curlPair } from "../../../../ui/curlPair.ts";
import { html, type Html } from "../../../../ui/html.ts";
import { section } from "../../../../ui/section.ts";
import { counted, formatNumber } from "../../../../ui/wording.ts";

/** Requests that were not compared: those without an answer, and lines of the corpus that were not sent. */
export const failuresSection = ({ failures, skipped, summary }: Report): Html =>
  section({
    id: "failures",
    title: "Not compared",
    count: summary.failed,
    about: "Answers that one side did not give, and lines of the corpus that were not asked.",
    content: html`${
      failures.length === 0
        ? html`<p class="none">Both sides answered every time.</p>`
        : html`<ul class="failures">
            ${failures.map(
              ({ endpoint, why, count, curl }) =>
                html`<li>
                  <h3>${why}</h3>
                  <p class="where">${endpoint} · ${counted(count, "answer")}</p>
                  ${curlPair(curl)}
                </li>`,
            )}
          </ul>`
    }
    ${skippedTable(Object.entries(skipped))}`,
  });

const skippedTable = (reasons: readonly [string, number][]): Html =>
  reasons.length === 0
    ? html`<p class="none">No line was skipped.</p>`
    : html`<table class="plain">
        <caption>
          Lines not asked
        </caption>
        <thead>
          <tr>
            <th scope="col">reason</th>
            <th scope="col">lines</th>
          </tr>
        </thead>
        <tbody>
          ${reasons.map(
            ([reason, count]) =>
              html`<tr>
                <th scope="row">${reason}</th>
                <td>${formatNumber(count)}</td>
              </tr>`,
          )}
        </tbody>
      </table>`;
