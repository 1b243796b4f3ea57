import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { raw } from "hono/html";
import { html, type Html } from "./html.ts";

/** Reads a file that is written into a page. */
export const readAsset = (url: URL): string => readFileSync(url, "utf8");

/**
 * Browser modules joined into one script, in the order in which they need each other: a page
 * loads no file besides itself. Comments on separate lines are left out.
 */
export const joinModules = (urls: readonly URL[]): string =>
  urls
    .map((url) =>
      readAsset(url)
        .replaceAll(/^import [^;]*;\n/gm, "")
        .replaceAll(/^\s*(?:\/\*[^]*?\*\/|\/\/.*)\n/gm, "")
        .replaceAll(/^export (?=const)/gm, ""),
    )
    .join("\n");

/** Reads styles, without their comments and indentation. */
export const readStyle = (url: URL): string =>
  readAsset(url)
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\n\s*/g, "\n");

/** The styles that every page of this project begins with. */
export const sharedStyle = (): string => readStyle(new URL("style.css", import.meta.url));

/** The sources of a Content-Security-Policy that allow these inline texts alone, each by its hash. */
const allowedSources = (texts: readonly string[]): string =>
  texts.map((text) => `'sha256-${hash("sha256", text, "base64")}'`).join(" ") || "'none'";

type Page = { title: string | Html; head?: Html; body: Html };

/**
 * A document that carries its style and scripts, and the Content-Security-Policy that allows nothing
 * else besides `directives`.
 */
export const documentFrame = (style: string, scripts: readonly string[], directives: readonly string[] = []) => {
  const policy = [
    "default-src 'none'",
    `script-src ${allowedSources(scripts)}`,
    `style-src ${allowedSources([style])}`,
    "img-src data:",
    ...directives,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  /** An open page compares the version, to see that its script is outdated. */
  const version = hash("sha256", [style, ...scripts].join("\n"), "hex").slice(0, 16);
  const render = ({ title, head, body }: Page): Html =>
    html`<!doctype html>
      <html lang="en" data-version="${version}">
        <head>
          <meta charset="utf-8" />
          ${head ?? ""}
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>${title}</title>
          <link rel="icon" href="data:," />
          ${raw(`<style>${style}</style>`)}
        </head>
        <body>
          ${body} ${scripts.map((script) => raw(`<script type="module">${script}</script>`))}
        </body>
      </html> `;
  return { policy, render };
};
