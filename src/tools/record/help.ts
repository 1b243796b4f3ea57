/** What `npm run record -- --help` prints. */
export const recordUsage = (endpoints: readonly string[]): string =>
  [
    "Records what a legacy server answers as a pair of fixtures: a regression test at once.",
    "",
    "  npm run record -- --legacy URL getDataset 61 as iris",
    "  npm run record -- --legacy URL listDatasets status=active limit=5 as five",
    "  npm run record -- --legacy URL --ids 1..50 getDataset as seen      the fewest that show every variant met",
    "  npm run record -- --legacy URL --corpus FILE as seen               the same for what a log shows",
    "",
    `Endpoints: ${endpoints.join(", ")}`,
    "",
    "  --legacy URL    the legacy server; with a path where its interface does not begin at /api/v1",
    "  --about TEXT    what the example shows, in a sentence",
    "  --key NAME      the environment variable that holds the key to ask with; recorded is the sample legacy's key",
    "  --out DIR       instead of the project's fixtures",
    "  --force         overwrite files; write what did not fit the schema",
    "  --help          this text",
    "",
    "Exit codes: 0 done, 1 the answer did not fit the endpoint's schema, 2 could not run.",
    "",
  ].join("\n");
