import type { Cache } from "../cache/cache.ts";
import { exampleTarget } from "../endpoint/exampleTarget.ts";
import { compareExamples, ledgerNotes } from "./compareExamples.ts";
import { fetchReadable } from "./answering.ts";
import { type Catalogue, type Gateway } from "./gateway.ts";
import type { Services } from "./services.ts";
import type { Caller } from "../legacy/client.ts";
import { xmlReader } from "../legacy/xml.ts";
import { openAdminStatuses } from "../features/privateDatasets/adminStatus.ts";
import type { AskLegacy } from "../features/privateDatasets/look.ts";

/** `strict`: an entry of the ledger that has ended, or that allows nothing, is a failure. */
export type Checking = {
  prefix: string;
  strict: boolean;
  print: (line: string) => void;
  /** The key that private rows are looked for with. */
  adminKey?: string | undefined;
};

/** Asks legacy one example of each endpoint that reads, and prints what came; true where nothing is wrong. */
export const check = async (
  { app, services }: Gateway,
  catalogue: Catalogue,
  { prefix, strict, print, adminKey }: Checking,
): Promise<boolean> => {
  let good = true;
  const row = (ok: boolean, name: string, found: string) => {
    good &&= ok;
    print(`${ok ? "ok  " : "FAIL"}  ${name.padEnd(26)} ${found}`);
  };
  const base = prefix === "/" ? "" : prefix;
  for (const [name, endpoint] of Object.entries(catalogue.endpoints))
    for (const [example, input] of Object.entries(endpoint.examples)) {
      const target = endpoint.writes ? undefined : exampleTarget(endpoint, input);
      if (target === undefined) continue;
      const started = performance.now();
      // Not what a shared cache has of it: the check is of legacy.
      const response = await app.request(base + target, { headers: { "Cache-Control": "no-cache" } });
      const body = await response.text();
      const took = `${Math.round(performance.now() - started)} ms`;
      // A "not found" is an answer too; what is not, is a legacy that cannot be asked.
      row(
        response.status < 500,
        `${name} ${example}`,
        `${response.status}, ${body.length} bytes, ${took}, GET ${base}${target}${response.status < 500 ? "" : ` ${body}`}`,
      );
    }

  if (services.cache.sharing() !== undefined) {
    const found = await sharingFound(services.cache);
    row(
      found === "in step",
      "REDIS_URL",
      found === "in step" ? "reached" : "cannot be reached: nothing is shared, and little kept",
    );
  }
  const compared = services.migration.hasModern
    ? await compareExamples(app, services, catalogue, base)
    : { rows: [], fired: new Set<string>() };
  for (const [name, { ok, found }] of compared.rows) row(ok, name, found);
  const { ended, idle } = ledgerNotes(services, catalogue, compared.fired);
  const note = (found: string) => print(`note  ${"EXPECTED_DIFFERENCES".padEnd(26)} ${found}`);
  for (const { id, until } of ended) {
    const found = `${id}: it ended on ${until}`;
    if (strict) row(false, "EXPECTED_DIFFERENCES", found);
    else note(found);
  }
  if (strict)
    for (const { id } of idle) row(false, "EXPECTED_DIFFERENCES", `${id}: it allows nothing that has been seen`);
  else if (idle.length > 0) note(`${idle.length} entries allow nothing that has been seen (--strict names them)`);
  const keyRow = async (
    name: string,
    key: string | undefined,
    writes: boolean,
    without: string,
    accepted: (asker: Asker) => Found | Promise<Found>,
  ) => {
    if (key === undefined) return row(true, name, `not set: ${without}`);
    const asker = { key, headers: [], deadline: Date.now() + services.totalTimeout };
    const refused = await services.keys.verify(asker, writes);
    const { ok, found } = refused === undefined ? await accepted(asker) : { ok: false, found: refused.message };
    return row(ok, name, found);
  };
  const [service, admin] = ["LEGACY_API_KEY", "LEGACY_ADMIN_KEY"] as const;
  await keyRow(
    service,
    services.serviceKey,
    true,
    "flow names with = + @ / and the like need the caller's own key",
    () => ({ ok: true, found: "accepted, and may write" }),
  );
  await keyRow(admin, adminKey, false, "administrators are listed no private datasets but their own", (asker) =>
    administratorFound(services, catalogue, asker),
  );
  return good;
};

type Found = { ok: boolean; found: string };
type Asker = Caller & { key: string };

/** Whether an accepted key is an administrator's, as legacy itself says. */
const administratorFound = async (
  services: Services,
  { privateRows, errors }: Catalogue,
  asker: Asker,
): Promise<Found> => {
  if (privateRows === undefined) return { ok: true, found: "accepted" };
  const asked = { name: privateRows.endpoint, readXml: xmlReader([]) };
  const ask: AskLegacy = (request, form) => fetchReadable(services, asked, request, asker, form);
  const owner = services.keys.ownerOf(asker.key);
  const status = await openAdminStatuses(privateRows, errors).of({ owner, ask }, services.totalTimeout);
  if (status === "administrator") return { ok: true, found: "accepted, and an administrator's" };
  return {
    ok: false,
    found:
      status === "other"
        ? "accepted, but not an administrator's: it finds no private datasets but its owner's"
        : "accepted, but legacy did not say whether it is an administrator's",
  };
};

/** A connection takes its time; at most two seconds of it. */
const sharingFound = async (cache: Cache) => {
  for (let i = 0; i < 40 && cache.sharing() !== "in step"; i++) await new Promise((resolve) => setTimeout(resolve, 50));
  return cache.sharing();
};
