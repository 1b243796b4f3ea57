import type { Attack } from "../lib/attack.ts";
import { fuzz } from "./fuzz.ts";
import { leaks } from "./leaks.ts";
import { stalls } from "./stalls.ts";
import { towardsLegacy } from "./towardsLegacy.ts";
import { unreadLists } from "./unreadLists.ts";

/** The same attack on gateways that answer reads of legacy's own interface from their caches. */
export const onOldClients = (attack: Attack): Attack => ({
  name: `${attack.name}-cached`,
  what: `${attack.what} With CACHE_LEGACY.`,
  run: (context) =>
    attack.run({
      ...context,
      startGateway: (settings) => context.startGateway({ ...settings, CACHE_LEGACY: "all" }),
    }),
});

/** Every attack, in the order in which they run. */
export const attacks: readonly Attack[] = [
  towardsLegacy,
  leaks,
  onOldClients(leaks),
  stalls,
  onOldClients(stalls),
  unreadLists,
  fuzz,
  onOldClients(fuzz),
];
