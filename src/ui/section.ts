import { formatNumber } from "./wording.ts";
import { html, type Html } from "./html.ts";

type Section = { id: string; title: string; count?: number | undefined; about: string; content: Html | Html[] };

/** One section of the page, under its heading and a line of what it shows. */
export const section = ({ id, title, count, about, content }: Section): Html =>
  html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title" tabindex="-1">
      ${title} ${count === undefined ? "" : html`<span class="count">${formatNumber(count)}</span>`}
    </h2>
    <p class="about">${about}</p>
    ${content}
  </section>`;
