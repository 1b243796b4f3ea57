import { formatNumber } from "./wording.ts";
import { html, type Html } from "./html.ts";

/** A link to each section of a page, with what it holds. */
export const sectionLinks = (sections: readonly (readonly [id: string, title: string, count: number])[]): Html =>
  html`<ul>
    ${sections.map(
      ([id, title, count]) =>
        html`<li>
          <a href="#${id}">${title} <span class="count">${formatNumber(count)}</span></a>
        </li>`,
    )}
  </ul>`;
