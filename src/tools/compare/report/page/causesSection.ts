import type { Cause } from "../../../../compare/report.ts";
import { badge } from "../../../../ui/badge.ts";
import { curlPair } from "../../../../ui/curlPair.ts";
import { html, type Html } from "../../../../ui/html.ts";
import { section } from "../../../../ui/section.ts";
import { counted, formatNumber } from "../../../../ui/wording.ts";
import { kindsBar } from "./parts.ts";

/** The causes of the differences, the most frequent first. */
export const causesSection = (causes: readonly Cause[]): Html => {
  const most = Math.max(1, ...causes.map(({ answers }) => answers));
  return section({
    id: "causes",
    title: "Causes",
    count: causes.length,
    about:
      "What lies behind the differences: a rule, an entry of the ledger, or nothing known. The most frequent first.",
    content:
      causes.length === 0
        ? html`<p class="none">No difference, and so no cause.</p>`
        : html`<ol class="causes">
            ${causes.map((cause) => item(cause, most))}
          </ol>`,
  });
};

const item = ({ kind, name, fields, answers, endpoints, curl }: Cause, most: number): Html =>
  html`<li>
    <div class="cause">
      <h3><code>${name}</code></h3>
      ${badge(kind)} ${kindsBar([[kind, answers]], most)}
      <span class="amount"><strong>${formatNumber(answers)}</strong> ${answers === 1 ? "answer" : "answers"}</span>
      <span class="amount quiet">${counted(fields, "field")}</span>
    </div>
    <p class="where">${links({ kind, name, endpoints })}</p>
    ${curlPair(curl)}
  </li>`;

/** Each endpoint links to its differences with this cause. */
const links = ({ kind, name, endpoints }: Pick<Cause, "kind" | "name" | "endpoints">): Html[] =>
  endpoints.map((endpoint, i) => {
    const view = new URLSearchParams({ endpoint, kind, rule: name }).toString();
    return html`${i > 0 ? ", " : ""}<a href="#differences" data-view="${view}">${endpoint}</a>`;
  });
