import { html, type Html } from "../../../ui/html.ts";
import { percent } from "./amounts.ts";

const WIDTH = 400;

/** How much of something there is, as a bar and in words: `38 % of the room is taken`. */
export const fillBar = (share: number, ofWhat: string): Html => {
  const shown = Math.min(1, share);
  return html`<svg
    class="fill-bar"
    viewBox="0 0 ${WIDTH} 8"
    preserveAspectRatio="none"
    role="img"
    aria-label="${percent(shown)} ${ofWhat}"
  >
    <rect width="${(WIDTH * shown).toFixed(1)}" height="8"></rect>
  </svg>`;
};
