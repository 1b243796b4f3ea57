import type { CheckReport } from "../../libraries/check/checkReport.ts";
import { type Core, ownCaller, type Started } from "../../src/gateway/index.ts";
import type { Stores } from "../../libraries/stores/keyValueStore.ts";
import type { ConsolePart } from "../../libraries/ui/consolePart.ts";
import type { Meter, Observer } from "../../src/operation/index.ts";
import { askAs, isAdministrators, LIST_ENDPOINT, openAdminStatuses } from "./askLegacy.ts";
import { privateDatasetsEvents } from "./events.ts";
import { openScanResults, scopeOf } from "./scanResults.ts";
import { listedRows } from "./listedRows.ts";
import { privateRowsLayer } from "./mergedList.ts";
import { type PrivateRowsView, Scanner, type ScanOptions } from "./scan.ts";
import type { PrivateDatasetsSettings } from "./settings.ts";
import { fetchListedIds, type ListParts, PRIVATE_GROUP, wholeLists } from "./wholeLists.ts";
import { readWritten } from "./writtenDatasets.ts";

/** Parts that a test replaces: options of the scan. */
export type PrivateDatasetsParts = { scan?: ScanOptions };

/** Adds to administrators' lists the private datasets that legacy's lists lack. */
const open = async (
  core: ListParts & Pick<Core, "dependencies" | "endpoints" | "events" | "load" | "observer">,
  stores: Stores,
  settings: PrivateDatasetsSettings,
  { scan = {} }: PrivateDatasetsParts = {},
) => {
  const { endpoints, load, observer, cache, events, meter } = core;
  const endpoint = endpoints.find(({ name }) => name === LIST_ENDPOINT);
  const rowById = endpoint?.rowById;
  const { LEGACY_ADMIN_KEY: key, TOTAL_TIMEOUT_MS: timeout } = settings;
  if (key === undefined || endpoint === undefined || rowById === undefined) return undefined;
  const onEvent: Observer["event"] = (name, about) => observer.event(name, { endpoint: LIST_ENDPOINT, ...about });
  const onChange = () => cache.invalidateLocally(PRIVATE_GROUP);
  const scanResults = await openScanResults({ stores, scope: scopeOf(settings), onChange });
  const stopping = new AbortController();
  const { signal } = stopping;
  const spent = { calls: 0 };
  const callerNow = () => ({ ...ownCaller(timeout), signal, exchange: { countCall: () => void spent.calls++ } });
  const scanner = new Scanner({
    scanResults,
    ask: (request) => askAs(core, { ...callerNow(), key })(request),
    rowById,
    fetchListed: () => fetchListedIds(core, endpoint, callerNow()),
    load,
    onEvent,
    onKey: core.dependencies.add("legacy_admin_key", {
      trouble: "Legacy has been refusing LEGACY_ADMIN_KEY",
      effect: "administrators' lists may lack private datasets",
    }),
    spent,
    signal,
    options: scan,
  });
  const adminStatuses = openAdminStatuses();
  events.on("keyRefused", adminStatuses.remove);
  const view = () => scanner.view();
  addMetrics(meter, view);
  let scanning: Promise<void> | undefined;
  const start = async (): Promise<void> => {
    scanning = scanner.run();
  };
  return {
    /** The scan and its state, for tests. */
    privateRows: { start, state: view },
    console: {
      cacheView: () => ({ privateRows: view() }),
      page: async () => (await import("./console/page.ts")).privateDatasetsPage(view),
    } satisfies ConsolePart,
    layer: privateRowsLayer({
      core,
      scanResults,
      scanner,
      adminStatuses,
      wholeList: wholeLists(core, endpoint, scanResults.version),
      filters: rowById.filters,
      listedRow: listedRows(endpoint.output, rowById, (id, places) => onEvent("private_row_unfit", { id, places })),
    }),
    // Only legacy knows whether a caller with a key is an administrator, who sees more.
    mayHit: (name: string, isKeyed: boolean) => !isKeyed || name !== LIST_ENDPOINT,
    onWrite: readWritten(
      (id) => scanResults.get(id) !== undefined,
      (id) => scanner.readNext(id),
    ),
    check: (report: CheckReport) => checkKey(core, report, key),
    start: async (): Promise<Started> => {
      await start();
      const place = places[scanResults.storeKind];
      return {
        line: `private datasets are scanned for and listed to administrators; what is found is kept in ${place}`,
      };
    },
    async close() {
      stopping.abort();
      await scanning;
    },
  };
};

const places = {
  memory: "memory: a restart starts the scan over, unless DATA_DIR or REDIS_URL is set",
  directory: "DATA_DIR",
  redis: "Redis",
};

const checkKey = (core: ListParts, { keyRow }: CheckReport, key: string): Promise<void> =>
  keyRow("LEGACY_ADMIN_KEY", key, false, (caller) =>
    isAdministrators(askAs(core, caller)).then(
      (ok) => ({ ok, found: ok ? "accepted, and an administrator's" : notAdministrators }),
      () => ({ ok: false, found: "accepted, but legacy did not say whether it is an administrator's" }),
    ),
  );

const notAdministrators = "accepted, but not an administrator's: it finds no private datasets but its owner's";

const addMetrics = (meter: Meter, view: () => PrivateRowsView): void => {
  meter.gauge("private_rows", "Private datasets that are known.", () => view().rows);
  meter.gauge("private_rows_hidden", "Of these, the ones that legacy does not show.", () => view().hidden);
  meter.gauge("private_scan_complete", "1 if a scan was completed within the last hour.", () =>
    view().state === "complete" ? 1 : 0,
  );
  meter.total("private_scan_calls_total", "Requests to legacy for the scan.", () => view().calls);
};

export const feature = { open, events: privateDatasetsEvents };
