import type { CurlPair } from "../compare/curls.ts";
import { html, type Html } from "./html.ts";

/** The commands that send one request to each side, folded. The script adds a button that copies them. */
export const curlPair = ({ legacy, candidate }: CurlPair): Html => {
  const commands = [legacy, candidate].filter((command) => command !== undefined).join("\n");
  const title = legacy === undefined ? "curl" : "curl for both sides";
  return html`<details class="curl">
    <summary>${title}</summary>
    <div class="commands">
      <pre>${commands}</pre>
    </div>
  </details>`;
};
