import { copyScript, documentFrame, readAsset, sharedStyle } from "../../../ui/documentFrame.ts";
import { sectionLinks } from "../../../ui/section.ts";
import type { Report } from "../../../compare/report.ts";
import { causesSection } from "./page/causesSection.ts";
import { coverageSection } from "./page/coverageSection.ts";
import { differencesSection } from "./page/differencesSection.ts";
import { exhibitsSection } from "./page/exhibitsSection.ts";
import { failuresSection } from "./page/failuresSection.ts";
import { html, type Html } from "../../../ui/html.ts";
import { overview } from "./page/overview.ts";
import { schemaDriftSection } from "./page/schemaDriftSection.ts";
import { verdict } from "./verdict.ts";

const read = (file: string): string => readAsset(new URL(`page/${file}`, import.meta.url));
const style = [sharedStyle(), read("sections.css"), read("exhibits.css")].join("\n");
const frame = documentFrame(style, [read("later.js"), copyScript(), read("filters.js")]);
/** The page is opened as a file and sent around: its policy stands in it. */
const head = html`<meta http-equiv="Content-Security-Policy" content="${frame.policy}" />`;

/** Characters: a page that can still be sent around, and opened on a phone. */
const MOST = 4_800_000;

/** The report as one page that needs nothing else: no server, no network, and for its content no script. */
export const htmlReport = (report: Report): string => {
  const before = html`${causesSection(report.causes)} ${differencesSection(report)}`;
  const after = html`${coverageSection(report.coverage)} ${schemaDriftSection(report.schemaDrift)}
  ${failuresSection(report)}`;
  const exhibits = exhibitsSection(report, MOST - before.length - after.length);
  const body = html`<a class="skip" href="#differences">Skip to the differences</a>
    ${overview(report)} ${contents(report)}
    <main>${before} ${exhibits} ${after}</main>`;
  return frame.render({ title: verdict(report.summary), head, body }).toString();
};

const contents = (report: Report): Html => {
  const sections = [
    ["causes", "Causes", report.causes.length],
    ["differences", "Differences", report.differences.length],
    ["exhibits", "Exhibits", report.exhibits.length],
    ["coverage", "Coverage", report.coverage.length],
    ["schema-drift", "Schema drift", report.schemaDrift.length],
    ["failures", "Not compared", report.summary.failed],
  ] as const;
  return html`<nav class="contents" aria-label="Sections">${sectionLinks(sections)}</nav>`;
};
