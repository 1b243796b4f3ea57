import { formatNumber } from "./wording.ts";
import { html, type Html } from "./html.ts";

type Section = { id: string; title: string; count?: number | undefined; about: string; content: Html | Html[] };

/** One section of a page: its heading, a line about it, and its content. */
export const section = ({ id, title, count, about, content }: Section): Html =>
  html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title" tabindex="-1">
      ${title} ${count === undefined ? "" : html`<span class="count">${formatNumber(count)}</span>`}
    </h2>
    <p class="about">${about}</p>
    ${content}
  </section>`;

/** A link to each section of a page, with the count of its entries. */
export const sectionLinks = (sections: readonly (readonly [id: string, title: string, count: number])[]): Html =>
  html`<ul>
    ${sections.map(
      ([id, title, count]) =>
        html`<li>
          <a href="#${id}">${title} <span class="count">${formatNumber(count)}</span></a>
        </li>`,
    )}
  </ul>`;
