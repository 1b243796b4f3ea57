import { readFileSync } from "node:fs";
import { raw } from "hono/html";
import type { Report } from "../../../compare/report.ts";
import { allowedSources } from "../../../ui/contentSecurity.ts";
import { html, type Html } from "../../../ui/html.ts";
import { sectionLinks } from "../../../ui/sectionLinks.ts";
import { causesSection } from "./page/causesSection.ts";
import { reportedDifferences } from "./page/differencesSection.ts";
import { examplesSection } from "./page/examplesSection.ts";
import { failuresSection } from "./page/failuresSection.ts";
import { coverageSection, schemaDriftSection } from "./page/fieldsSections.ts";
import { reportOverview } from "./page/overview.ts";
import { formatSummary } from "./reportWording.ts";

const read = (file: string): string => readFileSync(new URL(file, import.meta.url), "utf8");
const shared = ["tokens.css", "frame.css", "parts.css"].map((file) => `../../../ui/${file}`);
const styles = [...shared, "page/sections.css", "page/examples.css"].map((file) => `\n${read(file)}`);
const scripts = ["page/later.js", "../../../ui/copying.js", "page/filters.js"].map((file) => `\n${read(file)}`);
/** Marks the page at once where scripts run. */
const mark = `document.documentElement.classList.add("with-script");`;

/** The page is a file that people send around: a browser runs only these scripts and styles, and loads nothing else. */
const policy = [
  "default-src 'none'",
  `script-src ${allowedSources([mark, ...scripts])}`,
  `style-src ${allowedSources(styles)}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** Characters of a page that can still be sent around and opened on a phone. */
const MAX_PAGE_CHARS = 4_800_000;

/** The report as one page that needs no server and no network; its content is readable without scripts. */
export const htmlReport = (report: Report): string => {
  const before = html`${causesSection(report.causes)} ${reportedDifferences(report)}`;
  const after = html`${coverageSection(report.coverage)} ${schemaDriftSection(report.schemaDrift)}
  ${failuresSection(report)}`;
  const examples = examplesSection(report, MAX_PAGE_CHARS - before.length - after.length);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${formatSummary(report.summary)}</title>
        <link rel="icon" href="data:," />
        ${styles.map((style) => raw(`<style>${style}</style>`))} ${raw(`<script>${mark}</script>`)}
      </head>
      <body>
        <a class="skip" href="#differences">Skip to the differences</a>
        ${reportOverview(report)} ${contents(report)}
        <main>${before} ${examples} ${after}</main>
        <p id="said" class="unseen" role="status"></p>
        ${scripts.map((script) => raw(`<script type="module">${script}</script>`))}
      </body>
    </html> `.toString();
};

const contents = (report: Report): Html => {
  const sections = [
    ["causes", "Causes", report.causes.length],
    ["differences", "Differences", report.differences.length],
    ["exhibits", "Exhibits", report.examples.length],
    ["coverage", "Coverage", report.coverage.length],
    ["schema-drift", "Schema drift", report.schemaDrift.length],
    ["failures", "Not compared", report.summary.failed],
  ] as const;
  return html`<nav class="contents" aria-label="Sections">${sectionLinks(sections)}</nav>`;
};
