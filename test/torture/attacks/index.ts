import type { Attack } from "../lib/attack.ts";
import { accessModel } from "./accessModel.ts";
import { chunkedBodies } from "./chunkedBodies.ts";
import { clientFraming } from "./clientFraming.ts";
import { crowdedAnswers } from "./crowdedAnswers.ts";
import { drippingUploads } from "./drippingUploads.ts";
import { emptiedCache } from "./emptiedCache.ts";
import { endlessInterim } from "./endlessInterim.ts";
import { fuzz } from "./fuzz.ts";
import { killedWrites } from "./killedWrites.ts";
import { leaks } from "./leaks.ts";
import { long422 } from "./long422.ts";
import { outageAndWrite } from "./outageAndWrite.ts";
import { pipelinedHeads } from "./pipelinedHeads.ts";
import { privateAgain } from "./privateAgain.ts";
import { refusedDispatch } from "./refusedDispatch.ts";
import { rememberedWrites } from "./rememberedWrites.ts";
import { secondSignal } from "./secondSignal.ts";
import { slowRules } from "./slowRules.ts";
import { stalls } from "./stalls.ts";
import { stuckLog } from "./stuckLog.ts";
import { towardsLegacy } from "./towardsLegacy.ts";
import { unreadAnswers } from "./unreadAnswers.ts";

/** Every attack, in the order in which they run. */
export const attacks: readonly Attack[] = [
  refusedDispatch,
  clientFraming,
  towardsLegacy,
  leaks,
  rememberedWrites,
  emptiedCache,
  outageAndWrite,
  unreadAnswers,
  crowdedAnswers,
  drippingUploads,
  chunkedBodies,
  pipelinedHeads,
  endlessInterim,
  long422,
  stalls,
  slowRules,
  stuckLog,
  secondSignal,
  killedWrites,
  privateAgain,
  accessModel,
  fuzz,
];
