import { html, type Html } from "../../../ui/html.ts";

const WIDTH = 600;
const HEIGHT = 90;
const PADDING = 4;

/** Values over time, the oldest first; `undefined` where there is none. `kind`: the class of its line. */
export type Curve = { name: string; kind: string; values: readonly (number | undefined)[] };

/** Something that happened, at a share (0-1) of the time that the chart shows. */
export type Mark = { at: number; title: string; kind: "move" | "start" };

type TimeChart = {
  title: string;
  /** What the drawing shows, for those who do not see it. */
  about: string;
  curves: readonly Curve[];
  marks: readonly Mark[];
  format: (value: number) => string;
  /** The top of the scale; default: the highest value. */
  most?: number | undefined;
};

/** A chart of values over time. Its labels are text beside the drawing, which may be stretched. */
export const timeChart = ({ title, about, curves, marks, format, most }: TimeChart): Html => {
  const all = curves.flatMap(({ values }) => values.filter((value) => value !== undefined));
  const top = most ?? Math.max(0, ...all);
  // Shares near 1 would all be one line at the top.
  const bottom = most === undefined || all.length === 0 ? 0 : lowerBound(Math.min(...all), most);
  const described = curves.flatMap(({ name, values }) => {
    const known = values.filter((value) => value !== undefined);
    const latest = known.at(-1);
    if (latest === undefined) return [];
    return `${name} between ${format(Math.min(...known))} and ${format(Math.max(...known))}, lately ${format(latest)}`;
  });
  return html`<figure class="chart">
    <figcaption>
      <strong>${title}</strong>
      ${curves.length > 1 ? curves.map(({ name, kind }) => html`<span class="key ${kind}">${name}</span>`) : ""}
    </figcaption>
    ${
      all.length === 0
        ? html`<p class="none">nothing to show</p>`
        : html`<div class="scaled">
            <span class="scale">${format(top)}</span><span class="scale">${format(bottom)}</span>
            <svg
              class="plot"
              viewBox="0 0 ${WIDTH} ${HEIGHT}"
              preserveAspectRatio="none"
              role="img"
              aria-label="${about}: ${described.join("; ")}"
            >
              ${marks.map(
                ({ at, title: text, kind }) =>
                  html`<line
                    class="mark ${kind}"
                    x1="${(at * WIDTH).toFixed(1)}"
                    x2="${(at * WIDTH).toFixed(1)}"
                    y1="0"
                    y2="${HEIGHT}"
                  >
                    <title>${text}</title>
                  </line>`,
              )}
              ${curves.map(({ kind, values }) => html`<path class="${kind}" d="${pathOf(values, bottom, top)}"></path>`)}
              <line class="cursor scripted" x1="${WIDTH}" x2="${WIDTH}" y1="0" y2="${HEIGHT}"></line>
            </svg>
          </div>`
    }
  </figure>`;
};

/** 0, or the next tenth, hundredth or thousandth below a value near the top. */
const lowerBound = (least: number, top: number): number =>
  [0.01, 0.1].map((distance) => top - distance).find((bound) => least >= bound) ?? 0;

/** A line through neighbouring values; a value alone is a dot. */
const pathOf = (values: readonly (number | undefined)[], bottom: number, top: number): string => {
  const span = top - bottom || 1;
  let isDrawing = false;
  const steps = values.map((value, i) => {
    if (value === undefined) {
      isDrawing = false;
      return "";
    }
    const x = (((i + 0.5) * WIDTH) / values.length).toFixed(1);
    const y = (HEIGHT - PADDING - ((HEIGHT - 2 * PADDING) * (value - bottom)) / span).toFixed(1);
    const step = isDrawing ? `L${x} ${y}` : `M${x} ${y}h.01`;
    isDrawing = true;
    return step;
  });
  return steps.join("");
};
