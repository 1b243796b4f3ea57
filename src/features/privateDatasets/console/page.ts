import { fillBar } from "../../../ui/charts.ts";
import type { PagePart, PageSection } from "../../../ui/consolePart.ts";
import { html, type Html } from "../../../ui/html.ts";
import { timeAgo } from "../../../ui/timeAgo.ts";
import { formatNumber, percent } from "../../../ui/wording.ts";
import type { PrivateRowsView } from "../state.ts";

/** The section of the private rows, as `view` describes them. */
export const privateDatasetsPage = (view: () => PrivateRowsView): PagePart => ({
  show: (now) => ({ sections: [privateRowsSection(view(), now)] }),
});

/** The private rows that are known, and how far the search for them is. */
const privateRowsSection = (view: PrivateRowsView, now: Date): PageSection => ({
  order: 70,
  id: "private-rows",
  title: "Private datasets",
  count: view.rows,
  isSummary: true,
  about: "What legacy's list keeps from administrators, and the search for it, id by id.",
  content: html`${progress(view)} ${facts(view, now)}`,
});

const progress = (view: PrivateRowsView): Html => {
  const { state, trouble } = view;
  return html`<p class="fill">
    <strong class="${state === "broken" || state === "stale" ? "amiss" : ""}">${state}</strong> ${howFar(view)}
    ${fillBar(shareOf(view), "of the ids have been looked at")}
    ${trouble === undefined ? "" : html`<span class="trouble">Trouble: ${trouble}</span>`}
    <span class="quiet">${meanings[state]}</span>
  </p>`;
};

const howFar = (view: PrivateRowsView): string => {
  const { completedAt, checkedUpTo, lastId } = view;
  if (completedAt !== undefined) return `every id up to ${formatNumber(checkedUpTo)} has been looked at`;
  if (lastId === 0) return "nothing has been looked at";
  return `${percent(shareOf(view))}, ${formatNumber(checkedUpTo)} of ${formatNumber(lastId)} ids looked at`;
};

/** The last id lies beyond the highest one known, so that the share stays below 1 until the end. */
const shareOf = ({ completedAt, checkedUpTo, lastId }: PrivateRowsView): number => {
  if (completedAt !== undefined) return 1;
  return lastId === 0 ? 0 : checkedUpTo / lastId;
};

const lacking = "administrators' lists may lack some, and say private=incomplete";
const notYet = `Until every id has been looked at, ${lacking}.`;
const meanings: Record<PrivateRowsView["state"], string> = {
  missing: notYet,
  walking: notYet,
  complete:
    "Administrators' lists have them, and say private=incomplete where legacy does not tell whether one belongs.",
  stale: `It was complete, but nothing has been looked at for half an hour: ${lacking}.`,
  broken: `Legacy cannot be asked, and is tried again: until then ${lacking}.`,
};

const facts = ({ rows, hidden, completedAt, kept, walksHere, doing, at, calls }: PrivateRowsView, now: Date): Html =>
  html`<dl class="values">
    ${[
      [
        "known",
        rows === 0 ? "none" : `${formatNumber(rows)}, ${hidden === 0 ? "none" : formatNumber(hidden)} of them hidden`,
      ],
      ["completed", completedAt === undefined ? "never" : html`${timeAgo(completedAt, now)} ago`],
      ["kept in", keptIn[kept]],
      ["who walks", walksHere ? `this instance, ${doings[doing](formatNumber(at))}` : "not this instance"],
      ["calls", `${formatNumber(calls)} by this instance`],
    ].map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;

const keptIn: Record<PrivateRowsView["kept"], string> = {
  memory: "memory: a restart begins anew",
  directory: "DATA_DIR",
  redis: "Redis",
};

const doings: Record<PrivateRowsView["doing"], (at: string) => string> = {
  waiting: () => "waiting for the next round",
  listing: (at) => `reading legacy's list at row ${at}`,
  looking: (at) => `at id ${at}`,
};
