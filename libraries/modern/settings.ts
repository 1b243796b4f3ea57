import { becomesAnother } from "../compare/canonicalRequest.ts";
import { z } from "zod";
import { readLedger, REFERENCE } from "../compare/ledger.ts";
import { certificates, fields, type KnownEndpoints, unknownEndpoints } from "../../src/operation/index.ts";

const route = fields.text(
  "routes such as GET /flows/exists/{name}/{external_version}",
  /^(GET|POST) (\/([A-Za-z0-9_.~-]+|\{\w+\??\}))+\/?$/,
);

/** Settings about the new implementation that migration and the comparing command share. */
export const comparedShape = {
  MODERN_CA: certificates
    .optional()
    .describe(
      "File with the certificates (PEM) of the authorities that modern's must come from. A renewed file needs a restart. Without it: those that Node trusts",
    ),
  MODERN_ROUTES: z
    .record(z.string(), route)
    .default({})
    .describe(
      'Routes of modern, where they differ from the definitions: `{"findFlow": "GET /flows/exists/{name}/{external_version}"}`. With the method and the names of our first route',
    ),
  EXPECTED_DIFFERENCES: fields
    .file("the path of a JSON list of entries, or reference", readLedger, [REFERENCE])
    .optional()
    .describe(
      "The ledger of expected differences: a file, or `reference` for [that of the public reference](../transforms/expectedDifferences.json). Without it nothing is expected",
    ),
};

/**
 * The errors of `MODERN_ROUTES`: unknown endpoints, and routes with another method, with other names, or with a path
 * that a server resolves to another path.
 */
export const wrongRoutes = (
  { MODERN_ROUTES }: { MODERN_ROUTES: Record<string, string> },
  endpoints: KnownEndpoints,
): string[] => [
  ...unknownEndpoints("MODERN_ROUTES", MODERN_ROUTES, Object.keys(endpoints)),
  ...Object.entries(MODERN_ROUTES).flatMap(([name, configured]) => {
    if (becomesAnother({ path: configured }))
      return [
        `MODERN_ROUTES: ${name} ${JSON.stringify(configured)} given; allowed are segments other than . and .., which a server resolves`,
      ];
    const own = Object.hasOwn(endpoints, name) ? endpoints[name]?.routes?.[0] : undefined;
    return own === undefined || partsOf(own) === partsOf(configured)
      ? []
      : [
          `MODERN_ROUTES: ${name} ${JSON.stringify(configured)} given; allowed is the same method and the same names as in ${own}`,
        ];
  }),
];

/** `GET /flow/exists/{name}/{external_version?}` -> `GET,external_version,name` */
const partsOf = (text: string): string =>
  [
    text.split(" ", 1)[0] as string,
    ...Array.from(text.matchAll(/\{(\w+)\??\}/g), ([, name]) => name as string).toSorted((a, b) => a.localeCompare(b)),
  ].join(",");
