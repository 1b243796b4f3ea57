import { sectionLinks } from "../../../ui/sectionLinks.ts";
import { html, type Html } from "../../../ui/html.ts";
import type { AdminPageData } from "./adminPageData.ts";

/** The way around the page, which stays in sight. */
export const contents = (data: AdminPageData): Html => {
  const sections = [
    ["stages", "Stages", Object.keys(data.stages).length],
    ["differences", "Differences", data.differences.length],
    ["audit", "Audit log", data.audit.length],
    ["clients", "Clients", data.clients.length],
    ["ledger", "Ledger", data.expected.length],
    ["cache", "Cache", data.cache.entries],
    ["private-rows", "Private datasets", data.cache.privateRows?.rows ?? 0],
  ] as const;
  return html`<nav class="contents" id="contents" data-live aria-label="Sections">${sectionLinks(sections)}</nav>`;
};
