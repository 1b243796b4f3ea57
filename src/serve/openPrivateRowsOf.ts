import type { Settings } from "../settings/settings.ts";
import { xmlReader } from "../legacy/xml.ts";
import { openPrivateRows, type PrivateRows } from "../features/privateDatasets/privateRows.ts";
import type { OpenIndexStore } from "../features/privateDatasets/store/indexStore.ts";
import type { WalkWays } from "../features/privateDatasets/walk.ts";
import { memoryIndexStore } from "../features/privateDatasets/store/indexStore.ts";
import { fetchReadable } from "./answering.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { PrivateRowsKnowledge } from "../features/privateDatasets/knowledge.ts";
import type { Services } from "./services.ts";
import { privateGroup } from "./privateRowsAdded.ts";
import { UNSETTLED } from "./unconfirmedWrites.ts";

type Known = { endpoints: Record<string, Endpoint>; privateRows?: PrivateRowsKnowledge };

type Parts = {
  openStore: OpenIndexStore | undefined;
  /** Callers take more of legacy than leaves room for anything in the background. */
  isBusy: () => boolean;
  ways: WalkWays;
};

const plain = xmlReader([]);

/** The index of private rows, where there is a key to look for them with; what it does is counted. */
export const openPrivateRowsOf = (
  settings: Settings,
  { privateRows: knowledge, endpoints }: Known,
  services: Services,
  { openStore = memoryIndexStore, isBusy, ways }: Parts,
): PrivateRows | undefined => {
  const { LEGACY_ADMIN_KEY: key, PRIVATE_WALK_RATE: rate, TOTAL_TIMEOUT_MS: timeout } = settings;
  const endpoint = knowledge && endpoints[knowledge.endpoint];
  if (key === undefined || knowledge === undefined || endpoint === undefined) return undefined;
  const { cache, errors, meter, observer } = services;
  const asked = { name: knowledge.endpoint, readXml: plain };
  const rows = openPrivateRows({
    knowledge,
    endpoint,
    errors,
    openStore,
    askAs: (as, about) => (request, form) => {
      const caller = { headers: ["user-agent", "catalog-gateway"], deadline: Date.now() + timeout, ...about };
      return fetchReadable(services, asked, request, as === undefined ? caller : { ...caller, key: as }, form);
    },
    key,
    rate,
    isBusy,
    unsettled: UNSETTLED,
    onRows: () => cache.forget(privateGroup(knowledge)),
    onEvent: (event, about) => observer.event(event, about),
    ways,
  });
  const view = () => rows.state();
  meter.gauge("private_rows", "Private rows that are known.", () => view().rows);
  meter.gauge("private_rows_hidden", "Of these, the ones that legacy tells nobody of.", () => view().hidden);
  meter.gauge("private_index_complete", "1 where every id has been looked at, and still is now and then.", () =>
    view().state === "complete" ? 1 : 0,
  );
  meter.gauge("private_walk_checked", "The last id that was looked at for the first time.", () => view().checkedUpTo);
  meter.gauge("private_walk_last", "The last id to look at.", () => view().lastId);
  meter.total("private_walk_calls", "Requests to legacy for the index of private rows.", () => view().calls);
  return rows;
};
