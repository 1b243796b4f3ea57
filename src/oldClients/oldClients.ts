import type { IncomingMessage } from "node:http";
import type { Settings } from "../config/settings.ts";
import { isBelow } from "../gateway/paths.ts";
import type { ClientView } from "../migration/views.ts";
import type { Observer } from "../observe.ts";
import { answerItself } from "../passThrough/ownAnswer.ts";
import type { OldPaths } from "../passThrough/oldPaths.ts";
import { brownoutAnswer } from "./brownoutAnswer.ts";
import { deprecationHeaders } from "./deprecationHeaders.ts";
import { longestPath } from "./longestPath.ts";
import { openBrownout } from "./openBrownout.ts";
import { pathGroup } from "./pathGroup.ts";
import { plainPath } from "./plainPath.ts";
import type { Brownout } from "./schemas.ts";
import { openUsage } from "./usage.ts";

export type OldClientsSettings = Pick<Settings, "LEGACY_PATH" | "DEPRECATED" | "BROWNOUTS">;

export type OldClients = OldPaths & {
  /** A request passes through; `body` is its beginning, where it was seen. */
  seen: (req: IncomingMessage, target: string, body?: string) => void;
  /** Who still calls what: everybody, or those who call what lies below a path. */
  clients: (below?: string) => ClientView[];
  /** How many requests brown-outs have answered. */
  refused: () => number;
  /** Puts other settings in force; who was seen stays known. */
  reconfigure: (settings: OldClientsSettings) => void;
};

/** What the settings say, made ready for requests. */
const configured = ({ LEGACY_PATH, DEPRECATED, BROWNOUTS }: OldClientsSettings) => ({
  legacyPath: LEGACY_PATH === "/" ? "" : LEGACY_PATH,
  deprecated: longestPath(DEPRECATED.map((one) => ({ ...one, headers: deprecationHeaders(one) }))),
  isAnyDeprecated: DEPRECATED.length > 0,
  brownouts: BROWNOUTS,
  brownout: openBrownout(BROWNOUTS),
});

const identity = ({ path, from, until }: Brownout): string => `${path} ${from} ${until}`;

/** Looks after those who still call the legacy interface: tells them that it goes, switches it off for a while, remembers them. */
export const openOldClients = (
  settings: OldClientsSettings,
  now: () => number,
  event: Observer["event"],
): OldClients => {
  let inForce = configured(settings);
  const usage = openUsage(now);
  let refused = 0;
  const begun = new Set<string>();

  const seen = (req: IncomingMessage, target: string, body?: string): void => {
    const { legacyPath, deprecated } = inForce;
    const path = plainPath(target);
    if (!isBelow(path, legacyPath)) return;
    usage.note(deprecated(path)?.path ?? pathGroup(path, legacyPath), { headers: req.headers, target, body });
  };

  return {
    headers: (target) => (inForce.isAnyDeprecated ? inForce.deprecated(plainPath(target))?.headers : undefined),
    standIn(req, res, target) {
      const { brownouts, brownout, deprecated, legacyPath } = inForce;
      if (brownouts.length === 0) return false;
      const path = plainPath(target);
      const at = now();
      const on = brownout(path, at);
      if (on === undefined) return false;
      refused++;
      seen(req, target);
      if (!begun.has(identity(on))) {
        begun.add(identity(on));
        event("brownout", { path: on.path, from: on.from, until: on.until, status: on.status });
      }
      answerItself(req, res, brownoutAnswer(on, deprecated(path), { path, legacyPath, now: at }));
      return true;
    },
    seen,
    clients(below) {
      const all = usage.list();
      return below === undefined ? all : all.filter(({ path }) => isBelow(path, below.replace(/\/$/, "")));
    },
    refused: () => refused,
    reconfigure(changed) {
      inForce = configured(changed);
      const known = new Set(changed.BROWNOUTS.map(identity));
      for (const one of begun) if (!known.has(one)) begun.delete(one);
    },
  };
};
