import type { Report } from "../../../../compare/report.ts";
import { html, type Html } from "../../../../ui/html.ts";

/** Of the drawing, which is stretched to its place. */
const WIDTH = 400;
/** The narrowest part, and what lies between two. */
const LEAST = 4;
const GAP = 1;

/**
 * Parts of a whole, each as wide as its share of `total` and never too narrow to be seen. A drawing: the page's policy allows no
 * style on an element. Without a label it is for the eye alone.
 */
export const kindsBar = (
  parts: readonly (readonly [kind: string, amount: number])[],
  total: number,
  label?: string,
): Html => {
  const free = WIDTH - parts.length * (LEAST + GAP);
  let x = 0;
  const drawn = parts.map(([kind, amount]) => {
    const width = LEAST + (free * amount) / Math.max(1, total);
    const part = html`<rect class="${kind}" x="${x.toFixed(1)}" width="${width.toFixed(1)}" height="8"></rect>`;
    x += width + GAP;
    return part;
  });
  const drawing = html`viewBox="0 0 ${WIDTH} 8" preserveAspectRatio="none"`;
  return label === undefined
    ? html`<svg class="bar" aria-hidden="true" ${drawing}>${drawn}</svg>`
    : html`<svg class="bar" role="img" aria-label="${label}" ${drawing}>${drawn}</svg>`;
};

/**
 * Content that the script lays out only when it is wanted: with a script a `<noscript>` is mere text, without one it is content.
 * What is inside is escaped, and so holds no tag that could end it.
 */
export const deferred = (content: Html): Html => html`<noscript>${content}</noscript>`;

/** Every endpoint that anything is told about. */
export const endpointsOf = ({ endpoints, differences, examples }: Report): string[] => [
  ...new Set([...Object.keys(endpoints), ...[...differences, ...examples].map(({ endpoint }) => endpoint)]),
];
