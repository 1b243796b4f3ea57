import type { CheckReport } from "../../serve/check.ts";
import type { Core, Feature } from "../../serve/feature.ts";
import type { Services } from "../../serve/services.ts";
import { UNSETTLED } from "../../serve/unconfirmedWrites.ts";
import type { Meter } from "../../telemetry/meter.ts";
import { privateDatasetsEvents } from "./events.ts";
import { type AdminStatus, openAdminStatuses } from "./adminStatus.ts";
import { privateDatasetsConsole } from "./console/privateDatasetsConsole.ts";
import { LIST_ENDPOINT } from "./datasets.ts";
import { openWholeLists, privateRowsLayer } from "./mergedList.ts";
import { openListedRows, openMissingRows } from "./missingRows.ts";
import { askAs } from "./readRow.ts";
import { FAR, type ScanOptions } from "./scan.ts";
import { openSearch, type Search } from "./search.ts";
import type { PrivateDatasetsSettings } from "./settings.ts";
import { openSignals } from "./signals.ts";
import type { OpenIndexStore } from "./store/indexStore.ts";
import { openIndexStore } from "./store/openIndexStore.ts";

/** Parts that a test replaces: the store of the index, and the scan. */
export type PrivateDatasetsParts = { openStore?: OpenIndexStore; walk?: ScanOptions };

/** Adds to administrators' lists the private datasets that legacy's lists lack. */
const open = (
  { services, catalogue, isBusy }: Core,
  settings: PrivateDatasetsSettings,
  { openStore = openIndexStore(settings), walk = {} }: PrivateDatasetsParts = {},
): Feature & { privateRows?: Search } => {
  const endpoint = catalogue.endpoints[LIST_ENDPOINT];
  const apart = endpoint?.rows?.apart;
  const { LEGACY_ADMIN_KEY: key, PRIVATE_WALK_RATE: rate, TOTAL_TIMEOUT_MS: timeout } = settings;
  if (key === undefined || endpoint === undefined || apart === undefined) return {};
  const search = openSearch({ services, apart, openStore, key, rate, timeout, isBusy, options: walk });
  const { index } = search;
  const adminStatuses = openAdminStatuses();
  const { listed, ...signals } = openSignals({ ...search, unsettled: UNSETTLED });
  const rowsLayer = privateRowsLayer({
    services,
    missingRows: openMissingRows({
      ...search,
      adminStatuses,
      listedRow: openListedRows(endpoint, (id, places) =>
        services.observer.event("private_row_unfit", { endpoint: LIST_ENDPOINT, id, places }),
      ),
    }),
    wholeLists: openWholeLists(),
    // So many ids may be newer than the last scan.
    listableIds: () => index.listableIds(FAR),
    async onWholeList(input, rows, ask) {
      listed(input, [...rows.keys()], true);
      await search.recheckUnlisted(rows, ask);
    },
  });
  addMetrics(services.meter, search);
  return {
    ...signals,
    privateRows: search,
    console: privateDatasetsConsole(() => search.state()),
    layer: rowsLayer,
    // Only legacy knows whether a caller with a key is an administrator, who sees more.
    isPlain: (name, isKeyed) => !isKeyed || name !== LIST_ENDPOINT,
    onKeyRefused: adminStatuses.remove,
    check: (report) => checkKey(services, report, key, timeout),
    async start() {
      await search.start();
      const place = places[search.state().kept];
      return {
        line: `private datasets are looked for and listed to administrators; what is found is kept in ${place}`,
      };
    },
    close: () => search.close(),
  };
};

const places = {
  memory: "memory: it is looked for anew after a restart, unless DATA_DIR or REDIS_URL is set",
  directory: "DATA_DIR",
  redis: "Redis",
};

const checkKey = (services: Services, { keyRow }: CheckReport, key: string, timeout: number): Promise<void> =>
  keyRow("LEGACY_ADMIN_KEY", key, false, async (caller) => {
    const asked = { owner: services.keys.ownerOf(caller.key), ask: askAs(services, caller) };
    const status = await openAdminStatuses().of(asked, timeout);
    return { ok: status === "administrator", found: checkResults[status] };
  });

const unclear = "accepted, but legacy did not say whether it is an administrator's";
const checkResults: Record<AdminStatus, string> = {
  administrator: "accepted, and an administrator's",
  other: "accepted, but not an administrator's: it finds no private datasets but its owner's",
  unknown: unclear,
  refused: unclear,
};

const addMetrics = (meter: Meter, search: Search): void => {
  const state = () => search.state();
  meter.gauge("private_rows", "Private rows that are known.", () => state().rows);
  meter.gauge("private_rows_hidden", "Of these, the ones that legacy tells nobody of.", () => state().hidden);
  meter.gauge("private_index_complete", "1 where every id has been looked at, and still is now and then.", () =>
    state().state === "complete" ? 1 : 0,
  );
  meter.gauge("private_walk_checked", "The last id that was looked at for the first time.", () => state().checkedUpTo);
  meter.gauge("private_walk_last", "The last id to look at.", () => state().lastId);
  meter.total("private_walk_calls_total", "Requests to legacy for the index of private rows.", () => state().calls);
};

/** The feature, as the gateway opens it. */
export const privateDatasetsFeature = { open, events: privateDatasetsEvents };
