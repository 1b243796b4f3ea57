import { html } from "../../libraries/ui/html.ts";
import { OPENAPI_TYPE } from "./apiCatalog.ts";
import { pageHeaders, type Resource } from "./resource.ts";

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The page of the viewer. `base`: the prefix, "" for "/". `link`: the value of its `Link`. */
export const viewerPage = (base: string, link: string): Resource => {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Machine-learning catalogue: the interface below ${base || "/"}</title>
        <link rel="icon" href="data:," />
        <link rel="service-desc" href="${base}/openapi.json" type="${OPENAPI_TYPE}" />
        <link rel="stylesheet" href="${base}/docs/swagger-ui.css" />
        <link rel="stylesheet" href="${base}/docs/viewer.css" />
      </head>
      <body>
        <header>
          <a href="${base}/openapi.json">openapi.json</a>
          <a href="${base}/problems">Errors explained</a>
        </header>
        <main id="viewer" data-document="${base}/openapi.json">
          <noscript
            >This reference needs scripts. All of it also stands in openapi.json, for people and programs.</noscript
          >
        </main>
        <script src="${base}/docs/swagger-ui-bundle.js" defer></script>
        <script src="${base}/docs/viewer.js" defer></script>
      </body>
    </html> `;
  return { body: String(page), type: "text/html; charset=utf-8", headers: pageHeaders(policy, link) };
};
