import type { Attack } from "../lib/attack.ts";
import { accessModel } from "./accessModel.ts";
import { chunkedBodies } from "./chunkedBodies.ts";
import { clientFraming } from "./clientFraming.ts";
import { fuzz } from "./fuzz.ts";
import { leaks } from "./leaks.ts";
import { pipelinedHeads } from "./pipelinedHeads.ts";
import { stalls } from "./stalls.ts";
import { towardsLegacy } from "./towardsLegacy.ts";
import { unreadLists } from "./unreadLists.ts";

/** Every attack, in the order in which they run. */
export const attacks: readonly Attack[] = [
  clientFraming,
  towardsLegacy,
  leaks,
  chunkedBodies,
  pipelinedHeads,
  stalls,
  unreadLists,
  accessModel,
  fuzz,
];
