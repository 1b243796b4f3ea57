import type { Resource } from "./resource.ts";

/** Where the catalogue of interfaces lies (RFC 9727). */
export const CATALOG_PATH = "/.well-known/api-catalog";

/** A value of `Link` that leads to the catalogue. */
export const CATALOG_LINK = `<${CATALOG_PATH}>; rel="api-catalog"`;

/** The media type of a document of OpenAPI, in JSON. */
export const OPENAPI_TYPE = "application/vnd.oai.openapi+json";

/**
 * The links of an answer below a prefix to the documents about it (RFC 8631), as a value of `Link`. `base`: "" for "/".
 */
export const documentLinks = (base: string): string =>
  [
    `<${base}/openapi.json>; rel="service-desc"; type="${OPENAPI_TYPE}"`,
    `<${base}/docs>; rel="service-doc"; type="text/html"`,
  ].join(", ");

/** The catalogue of the interfaces below these prefixes. Its references are relative, so they hold behind any proxy. */
export const apiCatalog = (bases: readonly string[]): Resource => ({
  type: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  body: JSON.stringify({
    linkset: bases.map((base) => ({
      anchor: base === "" ? "/" : base,
      "service-desc": [{ href: `${base}/openapi.json`, type: OPENAPI_TYPE }],
      "service-doc": [{ href: `${base}/docs`, type: "text/html" }],
    })),
  }),
  headers: ["Cache-Control", "public, max-age=300", "Link", CATALOG_LINK],
});
