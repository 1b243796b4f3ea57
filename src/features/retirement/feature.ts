import type { Core, Feature } from "../../serve/feature.ts";
import { retirementConsole } from "./console/retirementConsole.ts";
import { openRetirement, type Retirement } from "./retirement.ts";
import type { RetirementSettings } from "./settings.ts";

/** Deprecation headers and brown-outs for legacy paths, and a list of the callers of the legacy interface. */
const open = ({ services, catalogue }: Core, settings: RetirementSettings): Feature & { retirement: Retirement } => {
  const { meter, observer } = services;
  const retirement = openRetirement(
    settings,
    catalogue.legacyPaths,
    () => Date.now(),
    (name, about) => observer.event(name, about),
  );
  meter.total("brownout_answers", "Requests that a brown-out answered in legacy's place.", retirement.refused);
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
    reload: (next) => () => retirement.reconfigure({ ...settings, ...pick(next as RetirementSettings) }),
  };
};

const pick = ({ DEPRECATED, BROWNOUTS }: RetirementSettings) => ({ DEPRECATED, BROWNOUTS });

/** The feature, as the gateway opens it. */
export const retirementFeature = { open };
