import { xmlReader } from "../../legacy/xml.ts";
import { fetchReadable } from "../../serve/legacyFetch.ts";
import type { Core, Feature } from "../../serve/feature.ts";
import { UNSETTLED } from "../../serve/unconfirmedWrites.ts";
import { openAdminStatuses } from "./adminStatus.ts";
import { privateDatasetsConsole } from "./console/privateDatasetsConsole.ts";
import { privateGroup, privateRowsLayer } from "./layer.ts";
import type { AskLegacy } from "./look.ts";
import { openPrivateRows, type PrivateRows } from "./privateRows.ts";
import type { PrivateDatasetsSettings } from "./settings.ts";
import type { OpenIndexStore } from "./store/indexStore.ts";
import { openIndexStore } from "./store/openIndexStore.ts";
import type { WalkWays } from "./walk.ts";

/** `openStore`, `walk`: where the index is stored and how rows are looked for, where that differs from what the settings say. */
export type PrivateDatasetsParts = { openStore?: OpenIndexStore; walk?: WalkWays };

const plain = xmlReader([]);

/** Adds to administrators' lists the private rows that legacy's lists lack. */
const open = (
  core: Core,
  settings: PrivateDatasetsSettings,
  { openStore = openIndexStore(settings), walk = {} }: PrivateDatasetsParts = {},
): Feature & { privateRows?: PrivateRows } => {
  const { services, catalogue } = core;
  const { privateRows: knowledge, endpoints } = catalogue;
  const { LEGACY_ADMIN_KEY: key, PRIVATE_WALK_RATE: rate, TOTAL_TIMEOUT_MS: timeout } = settings;
  const endpoint = knowledge && endpoints[knowledge.endpoint];
  if (key === undefined || knowledge === undefined || endpoint === undefined) return {};
  const { cache, errors, observer, keys } = services;
  const asked = { name: knowledge.endpoint, readXml: plain };
  const privateRows = openPrivateRows({
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
    isBusy: core.isBusy,
    unsettled: UNSETTLED,
    onRows: () => cache.invalidateLocally(privateGroup(knowledge)),
    onEvent: (event, about) => observer.event(event, about),
    ways: walk,
  });
  meterPrivateRows(core, privateRows);
  const { feed } = privateRows;
  return {
    privateRows,
    console: privateDatasetsConsole(() => privateRows.state()),
    layer: privateRowsLayer(services, privateRows),
    // Whether a caller with a key sees more takes asking.
    isPlain: (name, isKeyed) => !isKeyed || name !== knowledge.endpoint,
    onLegacyAnswer({ endpoint: name, found }) {
      if (found) feed.answered(name, found.input, found.answer, found.isKeyed);
    },
    onWrite({ groups, isLost, proxied }) {
      if (proxied) feed.written(proxied.path, [...groups, ...proxied.named], proxied.answer);
      else feed.touched(groups, isLost);
    },
    onKeyRefused: privateRows.forget,
    proxy: {
      observe({ method, legacy, isWrite }) {
        const id = isWrite ? undefined : feed.readBy(method, legacy.path);
        return id === undefined ? undefined : (answer) => answer && feed.passed(id, answer);
      },
    },
    async check({ keyRow }) {
      await keyRow("LEGACY_ADMIN_KEY", key, false, async (caller) => {
        const ask: AskLegacy = (request, form) => fetchReadable(services, asked, request, caller, form);
        const owner = keys.ownerOf(caller.key);
        const status = await openAdminStatuses(knowledge, errors).of({ owner, ask }, timeout);
        if (status === "administrator") return { ok: true, found: "accepted, and an administrator's" };
        return {
          ok: false,
          found:
            status === "other"
              ? "accepted, but not an administrator's: it finds no private datasets but its owner's"
              : "accepted, but legacy did not say whether it is an administrator's",
        };
      });
    },
    async start() {
      await privateRows.start();
      return {
        line: `private datasets are looked for and listed to administrators; what is found is kept in ${keptIn[privateRows.state().kept]}`,
      };
    },
    close: () => privateRows.close(),
  };
};

const keptIn = {
  memory: "memory: it is looked for anew after a restart, unless DATA_DIR or REDIS_URL is set",
  directory: "DATA_DIR",
  redis: "Redis",
};

const meterPrivateRows = ({ services: { meter } }: Core, { state }: PrivateRows): void => {
  meter.gauge("private_rows", "Private rows that are known.", () => state().rows);
  meter.gauge("private_rows_hidden", "Of these, the ones that legacy tells nobody of.", () => state().hidden);
  meter.gauge("private_index_complete", "1 where every id has been looked at, and still is now and then.", () =>
    state().state === "complete" ? 1 : 0,
  );
  meter.gauge("private_walk_checked", "The last id that was looked at for the first time.", () => state().checkedUpTo);
  meter.gauge("private_walk_last", "The last id to look at.", () => state().lastId);
  meter.total("private_walk_calls", "Requests to legacy for the index of private rows.", () => state().calls);
};

export const privateDatasetsFeature = { open };
