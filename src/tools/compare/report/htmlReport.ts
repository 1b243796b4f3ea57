import type { Report } from "../../../compare/report.ts";
import { copyScript, documentFrame, readAsset, sharedStyle } from "../../../ui/documentFrame.ts";
import { html, type Html } from "../../../ui/html.ts";
import { sectionLinks } from "../../../ui/section.ts";
import { answersSection } from "./page/answersSection.ts";
import { causesSection } from "./page/causesSection.ts";
import { reportedDifferences } from "./page/differencesSection.ts";
import { examplesSection } from "./page/examplesSection.ts";
import { failuresSection } from "./page/failuresSection.ts";
import { coverageSection, schemaDriftSection } from "./page/fieldsSections.ts";
import { reportOverview } from "./page/overview.ts";
import { formatSummary } from "./reportWording.ts";

const read = (file: string): string => readAsset(new URL(`page/${file}`, import.meta.url));
const style = [sharedStyle(), read("sections.css"), read("examples.css")].join("\n");
const frame = documentFrame(style, [read("later.js"), copyScript(), read("filters.js")]);
/** People open the page as a file and send it around: its policy is part of it. */
const head = html`<meta http-equiv="Content-Security-Policy" content="${frame.policy}" />`;

/** Characters of a page that can still be sent around and opened on a phone. */
const MAX_PAGE_CHARS = 4_800_000;

/** The report as one page that needs no server and no network; its content is readable without scripts. */
export const htmlReport = (report: Report): string => {
  const before = html`${causesSection(report.causes)} ${reportedDifferences(report)}`;
  const after = html`${answersSection(report)} ${coverageSection(report.coverage)}
  ${schemaDriftSection(report.schemaDrift)} ${failuresSection(report)}`;
  const examples = examplesSection(report, MAX_PAGE_CHARS - before.length - after.length);
  const body = html`<a class="skip" href="#differences">Skip to the differences</a>
    ${reportOverview(report)} ${contents(report)}
    <main>${before} ${examples} ${after}</main>`;
  return frame.render({ title: formatSummary(report.summary), head, body }).toString();
};

const contents = (report: Report): Html => {
  const sections = [
    ["causes", "Causes", report.causes.length],
    ["differences", "Differences", report.differences.length],
    ["exhibits", "Exhibits", report.examples.length],
    ["answers", "Statuses", report.statuses.length],
    ["coverage", "Coverage", report.coverage.length],
    ["schema-drift", "Schema drift", report.schemaDrift.length],
    ["failures", "Not compared", report.summary.failed],
  ] as const;
  return html`<nav class="contents" aria-label="Sections">${sectionLinks(sections)}</nav>`;
};
