import { exampleTarget } from "../endpoint/canonicalRequest.ts";
import type { Caller } from "../legacy/client.ts";
import type { Settings } from "../settings/settings.ts";
import type { Gateway } from "./gateway.ts";

/** What the check of a key comes to. */
type KeyFound = { ok: boolean; found: string };

/** What a feature's part of `--check` works with. */
export type CheckReport = {
  /** Asks the gateway for a path below its prefix, past the cache. */
  ask: (target: string) => Promise<Response>;
  /** Prints a line; `ok: false` makes the check fail. */
  row: (ok: boolean, name: string, found: string) => void;
  /** Prints a line that never makes the check fail. */
  note: (name: string, found: string) => void;
  /** Verifies a key with legacy (`writes`: for writing), and prints the refusal or what `accepted` finds. */
  keyRow: (
    name: string,
    key: string,
    writes: boolean,
    accepted: (caller: Caller & { key: string }) => KeyFound | Promise<KeyFound>,
  ) => Promise<void>;
  /** Entries of a ledger that have ended, or that allow nothing, are failures. */
  strict: boolean;
};

/** What `--check` is run with. */
export type CheckSettings = {
  settings: Pick<Settings, "PREFIXES" | "LEGACY_API_KEY">;
  strict: boolean;
  print: (line: string) => void;
};

/** Asks legacy one example of each endpoint that reads, then each feature what it finds, and prints it; true where nothing is wrong. */
export const check = async (
  { app, services, core }: Gateway,
  { settings, strict, print }: CheckSettings,
): Promise<boolean> => {
  let good = true;
  const [prefix = "/"] = settings.PREFIXES;
  const base = prefix === "/" ? "" : prefix;
  const report: CheckReport = {
    strict,
    // Not what a shared cache has of it: the check is of legacy.
    ask: async (target) => app.request(base + target, { headers: { "Cache-Control": "no-cache" } }),
    row(ok, name, found) {
      good &&= ok;
      print(`${ok ? "ok  " : "FAIL"}  ${name.padEnd(26)} ${found}`);
    },
    note: (name, found) => print(`note  ${name.padEnd(26)} ${found}`),
    async keyRow(name, key, writes, accepted) {
      const caller = { key, headers: [], deadline: Date.now() + services.totalTimeout };
      const refusal = await services.keys.verify(caller, writes);
      const { ok, found } = refusal === undefined ? await accepted(caller) : { ok: false, found: refusal.message };
      report.row(ok, name, found);
    },
  };
  for (const [name, endpoint] of Object.entries(core.catalogue.endpoints))
    for (const [example, input] of Object.entries(endpoint.examples)) {
      const target = endpoint.writes ? undefined : exampleTarget(endpoint, input);
      if (target === undefined) continue;
      const started = performance.now();
      const response = await report.ask(target);
      const body = await response.text();
      const took = `${Math.round(performance.now() - started)} ms`;
      // "Not found" is an answer too; only a legacy that cannot be asked is a failure.
      const ok = response.status < 500;
      const found = `${response.status}, ${body.length} bytes, ${took}, GET ${base}${target}${ok ? "" : ` ${body}`}`;
      report.row(ok, `${name} ${example}`, found);
    }
  const serviceKey = settings.LEGACY_API_KEY;
  const noServiceKey = "not set: flow names with = + @ / and the like need the caller's own key";
  if (serviceKey === undefined) report.row(true, "LEGACY_API_KEY", noServiceKey);
  else await report.keyRow("LEGACY_API_KEY", serviceKey, true, () => ({ ok: true, found: "accepted, and may write" }));
  for (const feature of core.features) await feature.check?.(report);
  for (const { setting, effect } of core.off) report.row(true, setting, `not set: ${effect}`);
  return good;
};
