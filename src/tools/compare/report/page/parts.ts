import type { Report } from "../../../../compare/report.ts";
import { html, type Html } from "../../../../ui/html.ts";

/** Units of the drawing, which is stretched to its place. */
const WIDTH = 400;
/** The width of the narrowest part, and the gap between two. */
const LEAST = 4;
const GAP = 1;

/**
 * A bar whose parts are as wide as their shares of `total`, but wide enough to be seen. It is an SVG because the page's policy allows no
 * styles on elements. Without a label screen readers skip it.
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
 * Content that the script renders only when it is opened: with scripts a `<noscript>` is text, without them it is content. The content is
 * escaped, so that no tag in it ends the element.
 */
export const deferred = (content: Html): Html => html`<noscript>${content}</noscript>`;

/** Every endpoint of the report. */
export const endpointsOf = ({ endpoints, differences, examples }: Report): string[] => [
  ...new Set([...Object.keys(endpoints), ...[...differences, ...examples].map(({ endpoint }) => endpoint)]),
];
