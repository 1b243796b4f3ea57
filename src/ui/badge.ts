import { type ResultName, comparisonResults } from "../compare/results.ts";
import { html, type Html } from "./html.ts";

/** A kind by its sign, its word and its colour. */
export const badge = (kind: ResultName): Html =>
  html`<span class="kind ${kind}"><span aria-hidden="true">${comparisonResults[kind].sign}</span> ${kind}</span>`;
