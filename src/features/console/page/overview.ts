import { counted, formatNumber } from "../../../ui/wording.ts";
import { stageNames } from "../../migration/stage.ts";
import { html, type Html } from "../../../ui/html.ts";
import type { AdminPageData } from "./adminPageData.ts";
import { rate } from "./amounts.ts";

/** The first screen: how far the migration is, and whether anything needs a look. */
export const overview = (data: AdminPageData, now: Date): Html => {
  const views = Object.values(data.stages);
  const perSecond = views.reduce((sum, view) => sum + view.rate, 0);
  const unexplained = unexplainedOf(data);
  return html`<header class="overview" id="overview" data-live>
    <p class="compared">
      <strong>Migration</strong> to modern, as of
      <time datetime="${now.toISOString()}">${now.toISOString().slice(11, 19)} UTC</time>
    </p>
    <h1>${headline(data)}</h1>
    <dl class="numbers">
      ${stageNames.map((name) => amount(`in ${name}`, formatNumber(views.filter(({ stage }) => stage === name).length)))}
      ${amount("unexplained", formatNumber(unexplained), unexplained > 0 ? "unexplained" : "")}
      ${amount("callers of legacy", formatNumber(callersOf(data)))} ${amount("requests a second", rate(perSecond))}
    </dl>
  </header>`;
};

const amount = (name: string, value: string, kind = ""): Html =>
  html`<div class="${kind}">
    <dt>${kind === "" ? "" : html`<span class="sign" aria-hidden="true">?</span> `}${name}</dt>
    <dd class="${value === "0" ? "zero" : ""}">${value}</dd>
  </div>`;

const unexplainedOf = ({ differences }: AdminPageData): number =>
  differences.filter(({ kind }) => kind === "unexplained").length;

const callersOf = ({ clients }: AdminPageData): number =>
  new Set(clients.map(({ caller, agent }) => `${caller} ${agent}`)).size;

/** The whole page in one line. */
export const headline = (data: AdminPageData): string => {
  const unexplained = unexplainedOf(data);
  if (unexplained > 0) return `${counted(unexplained, "difference")} that nothing explains`;
  if (!data.hasModern) return "Legacy answers everything";
  const views = Object.values(data.stages);
  const moved = views.filter(({ stage }) => stage === "modern").length;
  return moved === views.length
    ? "Modern answers everything"
    : `Nothing unexplained; ${moved} of ${counted(views.length, "endpoint")} moved`;
};
