import type { CurlPair } from "../../report.ts";
import { html, type Html } from "./html.ts";

/** The commands that ask the same of both sides, folded, with a button that copies them. */
export const curlPair = ({ legacy, candidate }: CurlPair): Html => {
  const commands = [legacy, candidate].filter((command) => command !== undefined).join("\n");
  const title = legacy === undefined ? "curl" : "curl for both sides";
  return html`<details class="curl">
    <summary>${title}</summary>
    <div class="commands">
      <pre tabindex="0">${commands}</pre>
      <button type="button" class="copy scripted">Copy</button>
    </div>
  </details>`;
};
