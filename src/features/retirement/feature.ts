import type { Core, Feature } from "../../serve/feature.ts";
import { retirementEvents } from "./events.ts";
import { openKeyedStore } from "../../store/openKeyedStore.ts";
import { openStoredClients } from "./clientStore.ts";
import { retirementConsole } from "./console/retirementConsole.ts";
import { openRetirement, type Retirement } from "./retirement.ts";
import type { RetirementSettings } from "./settings.ts";

/** Deprecation headers and brown-outs for legacy paths, and a list of the callers of the legacy interface. */
const open = async (core: Core, settings: RetirementSettings): Promise<Feature & { retirement: Retirement }> => {
  const { services, catalogue } = core;
  const { meter, observer } = services;
  const retirement = openRetirement(
    settings,
    catalogue.legacyPaths,
    () => Date.now(),
    (name, about) => observer.event(name, about),
    await storedClients(core),
  );
  meter.total("brownout_answers_total", "Requests that a brown-out answered in legacy's place.", retirement.refused);
  return {
    retirement,
    console: retirementConsole(retirement.clients),
    proxy: {
      headers: retirement.headers,
      standIn: retirement.standIn,
      observe({ req, target, isWrite }) {
        // The key of a write may be in the body, which is complete only after the answer.
        if (isWrite) return (_answer, _isSent, body) => retirement.seen(req, target, body);
        retirement.seen(req, target);
        return undefined;
      },
    },
    close: retirement.close,
    reload: (next) => () => retirement.reconfigure({ ...settings, ...pick(next as RetirementSettings) }),
  };
};

const storedClients = async ({ settings, services, isCheck }: Core) => {
  if (isCheck) return {};
  const { REDIS_URL, DATA_DIR } = settings;
  return openStoredClients(
    (about) => openKeyedStore({ REDIS_URL, DATA_DIR }, about),
    (error) => services.observer.event("clients_not_kept", { why: error.message }),
  );
};

const pick = ({ DEPRECATED, BROWNOUTS }: RetirementSettings) => ({ DEPRECATED, BROWNOUTS });

/** The feature, as the gateway opens it. */
export const retirementFeature = { open, events: retirementEvents };
