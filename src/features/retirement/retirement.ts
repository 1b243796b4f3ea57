import type { IncomingMessage } from "node:http";
import type { LegacyPaths } from "../../endpoint/legacyInterface.ts";
import { isBelow, pathOf } from "../../http/requestTarget.ts";
import { legacyTargets } from "../../legacy/legacyTarget.ts";
import type { ClientView } from "./console/retirementConsole.ts";
import type { Observer } from "../../telemetry/observer.ts";
import { answerItself } from "../../proxy/refuse.ts";
import type { PassThroughHooks } from "../../proxy/passThrough.ts";
import { brownoutAnswer } from "./brownoutAnswer.ts";
import { deprecationHeaders } from "./deprecationHeaders.ts";
import { longestPath } from "./longestPath.ts";
import { openBrownout } from "./openBrownout.ts";
import { pathGroup } from "./pathGroup.ts";
import { plainPath } from "./plainPath.ts";
import type { Brownout } from "./schemas.ts";
import type { RetirementSettings } from "./settings.ts";
import { openUsage } from "./usage.ts";

/** The hooks of proxied traffic, and the callers that it has seen. */
export type Retirement = PassThroughHooks & {
  /** Counts a proxied request. `body`: the beginning of its body, if it was read. */
  seen: (req: IncomingMessage, target: string, body?: string) => void;
  /** All callers, or the callers of paths below one path. */
  clients: (below?: string) => ClientView[];
  /** Stores the callers that are not stored yet. */
  close: () => Promise<void>;
  /** The number of requests that brown-outs have answered. */
  refused: () => number;
  /** Puts other settings in force. The list of callers stays. */
  reconfigure: (settings: RetirementOptions) => void;
};

/** The settings that the feature uses. */
type RetirementOptions = Pick<RetirementSettings, "LEGACY_PATH" | "DEPRECATED" | "BROWNOUTS">;

/** The settings, prepared for lookups. */
const configured = ({ LEGACY_PATH, DEPRECATED, BROWNOUTS }: RetirementOptions, legacyPaths: LegacyPaths) => ({
  legacyPath: LEGACY_PATH === "/" ? "" : LEGACY_PATH,
  readTarget: legacyTargets(LEGACY_PATH, legacyPaths),
  deprecated: longestPath(DEPRECATED.map((one) => ({ ...one, headers: deprecationHeaders(one) }))),
  isAnyDeprecated: DEPRECATED.length > 0,
  brownouts: BROWNOUTS,
  brownout: openBrownout(BROWNOUTS),
});

/** The entry with the longer path. */
const longer = <T extends { path: string }>(one: T | undefined, other: T | undefined): T | undefined =>
  one === undefined || (other !== undefined && other.path.length > one.path.length) ? other : one;

const identity = ({ path, from, until }: Brownout): string => `${path} ${from} ${until}`;

/**
 * Opens the retirement of the legacy interface: deprecation headers, brown-outs, and the list of callers. `now` gives milliseconds.
 * @param stored the salt of the callers' hashes, and how the stored callers are opened; by default they are in memory.
 */
export const openRetirement = (
  settings: RetirementOptions,
  legacyPaths: LegacyPaths,
  now: () => number,
  event: Observer["event"],
  stored: { salt?: string; openClients?: Parameters<typeof openUsage>[2] } = {},
): Retirement => {
  let inForce = configured(settings, legacyPaths);
  const usage = openUsage(now, stored.salt, stored.openClients);
  let refused = 0;
  const begun = new Set<string>();

  /** Looks a target up by legacy's own path and as it was requested: an alias may be configured separately. */
  const find = <T extends { path: string }>(target: string, by: (path: string) => T | undefined): T | undefined => {
    const legacy = inForce.readTarget(target);
    return legacy === undefined
      ? by(plainPath(target))
      : longer(by(legacy.path), by(pathOf(target).replaceAll(/\/{2,}/g, "/")));
  };

  const seen = (req: IncomingMessage, target: string, body?: string): void => {
    const { legacyPath, deprecated, readTarget } = inForce;
    const legacy = readTarget(target);
    if (legacy === undefined) return;
    const group = find(target, deprecated)?.path ?? pathGroup(legacy.path, legacyPath);
    usage.note(group, { headers: req.headers, target: `${legacy.path}?${legacy.query}`, body });
  };

  return {
    headers: (target) => (inForce.isAnyDeprecated ? find(target, inForce.deprecated)?.headers : undefined),
    standIn(req, res, target) {
      const { brownouts, brownout, deprecated, legacyPath, readTarget } = inForce;
      if (brownouts.length === 0) return false;
      const at = now();
      const on = find(target, (path) => brownout(path, at));
      if (on === undefined) return false;
      refused++;
      seen(req, target);
      if (!begun.has(identity(on))) {
        begun.add(identity(on));
        event("brownout", { path: on.path, from: on.from, until: on.until, status: on.status });
      }
      const path = readTarget(target)?.path ?? plainPath(target);
      answerItself(req, res, brownoutAnswer(on, find(target, deprecated), { path, legacyPath, now: at }));
      return true;
    },
    seen,
    clients(below) {
      const all = usage.list();
      return below === undefined ? all : all.filter(({ path }) => isBelow(path, below.replace(/\/$/, "")));
    },
    close: () => usage.close(),
    refused: () => refused,
    reconfigure(changed) {
      inForce = configured(changed, legacyPaths);
      const known = new Set(changed.BROWNOUTS.map(identity));
      for (const one of begun) if (!known.has(one)) begun.delete(one);
    },
  };
};
