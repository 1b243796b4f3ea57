import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { raw } from "hono/html";
import { allowedSources } from "../../../ui/contentSecurity.ts";
import { html, type Html } from "../../../ui/html.ts";

const read = (file: string): string => readFileSync(new URL(file, import.meta.url), "utf8");
const inPage = (file: string): string => read(`../../../ui/${file}`);
const inClient = (file: string): string => read(`client/${file}`);

/** Written as modules and joined into one: a module of its own could not be asked for without the token. */
const joined = (files: readonly string[]): string =>
  files
    .map((file) =>
      inClient(file)
        .replaceAll(/^import [^;]*;\n/gm, "")
        .replaceAll(/^export (?=const)/gm, ""),
    )
    .join("\n");

const style = [
  ...["tokens.css", "frame.css", "parts.css"].map(inPage),
  ...["stages.css", "explorer.css", "rows.css", "dialogs.css"].map(read),
].join("\n");
const mark = `document.documentElement.classList.add("with-script");`;
const scripts = [
  inPage("copying.js"),
  joined([
    "remembered.js",
    "asking.js",
    "telling.js",
    "morph.js",
    "filters.js",
    "live.js",
    "dialogs.js",
    "moving.js",
    "expecting.js",
    "signIn.js",
    "start.js",
  ]),
];

/** Nothing but our own styles and scripts, nothing from or to anywhere else, and in nobody's frame. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src ${allowedSources([mark, ...scripts])}`,
  `style-src ${allowedSources([style])}`,
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Another gateway may have another page: its script is asked to be loaded anew. */
const version = hash("sha256", [style, ...scripts].join("\n"), "hex").slice(0, 16);

/** A whole document around what it shows. */
export const pageDocument = (title: string, content: Html): Html =>
  html`<!doctype html>
    <html lang="en" data-version="${version}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${raw(`<style>${style}</style>`)} ${raw(`<script>${mark}</script>`)}
      </head>
      <body>
        <div id="page">${content}</div>
        <p id="said" class="unseen" role="status"></p>
        ${scripts.map((script) => raw(`<script type="module">${script}</script>`))}
      </body>
    </html> `;
