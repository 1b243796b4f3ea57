import { type StandingName, standings } from "../tools/compare/report/standings.ts";
import { html, type Html } from "./html.ts";

/** A kind by its sign, its word and its colour. */
export const badge = (kind: StandingName): Html =>
  html`<span class="kind ${kind}"><span aria-hidden="true">${standings[kind].sign}</span> ${kind}</span>`;
