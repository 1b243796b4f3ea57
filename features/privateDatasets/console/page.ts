import type { PagePart, PageSection } from "../../../libraries/ui/consolePart.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { fillBar, timeAgo, valuesList } from "../../../libraries/ui/parts.ts";
import { formatNumber } from "../../../libraries/ui/wording.ts";
import type { PrivateRowsView } from "../scan.ts";
import { settings } from "../settings.ts";

/** The section of the private rows, as `view` describes them. */
export const privateDatasetsPage = (view: () => PrivateRowsView): PagePart => ({
  show: (now) => ({ sections: [privateRowsSection(view(), now)] }),
});

/** The private rows that are known, and how far the scan for them is. */
const privateRowsSection = (view: PrivateRowsView, now: Date): PageSection => ({
  order: 70,
  ...settings.whenOff.section,
  content: html`${progress(view)} ${facts(view, now)}`,
});

const progress = (view: PrivateRowsView): Html => {
  const { state, trouble } = view;
  return html`<p>
    <strong class="${state === "outdated" ? "kind drift" : ""}" data-scan="${state}">${state}</strong> ${howFar(view)}
    ${fillBar(shareOf(view), "of the ids have been read")}
    ${trouble === undefined ? "" : html`<span class="trouble">Trouble: ${trouble}</span><br />`}
    <span class="where">${meanings[state]}</span>
  </p>`;
};

const howFar = ({ at, lastId }: PrivateRowsView): string =>
  at === 0 ? "no scan runs now" : `the scan is at id ${formatNumber(at)} of ${formatNumber(lastId)}`;

/** The last id lies beyond the highest known id, so that the share stays below 1 until the end. */
const shareOf = ({ at, lastId, completedAt }: PrivateRowsView): number => {
  if (at === 0) return completedAt === undefined ? 0 : 1;
  return lastId === 0 ? 0 : at / lastId;
};

const meanings: Record<PrivateRowsView["state"], string> = {
  scanning: "Until the first scan is over, administrators' lists may lack datasets, and say private=incomplete.",
  complete: "Administrators' lists have private datasets, and say private=incomplete where one may be lacking.",
  outdated: "The last scan was over more than an hour ago: administrators' lists say private=incomplete.",
};

const facts = ({ rows, hidden, completedAt, kept, scansHere, calls }: PrivateRowsView, now: Date): Html =>
  valuesList([
    [
      "known",
      rows === 0 ? "none" : `${formatNumber(rows)}, ${hidden === 0 ? "none" : formatNumber(hidden)} of them hidden`,
    ],
    ["last scan", completedAt === undefined ? "none" : html`${timeAgo(completedAt, now)} ago`],
    ["kept in", keptIn[kept]],
    ["who scans", scansHere ? "this instance" : "not this instance"],
    ["calls", `${formatNumber(calls)} by this instance`],
  ]);

const keptIn: Record<PrivateRowsView["kept"], string> = {
  memory: "memory: a restart starts over",
  directory: "DATA_DIR",
  redis: "Redis",
};
