import type { Attack } from "../lib/attack.ts";
import { fuzz } from "./fuzz.ts";
import { leaks } from "./leaks.ts";
import { stalls } from "./stalls.ts";
import { towardsLegacy } from "./towardsLegacy.ts";
import { unreadLists } from "./unreadLists.ts";

/** Every attack, in the order in which they run. */
export const attacks: readonly Attack[] = [towardsLegacy, leaks, stalls, unreadLists, fuzz];
