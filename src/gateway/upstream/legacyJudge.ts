import { judgementOf, needsDecoding, type ReadLegacyTarget } from "../../catalogue/index.ts";
import { decodedBeginning } from "./answerBeginning.ts";
import { contentCoding, mediaType } from "./answerHeaders.ts";
import type { Judge } from "./upstream.ts";

/** Judges legacy's answers. It decodes a coded body only if the judgement needs that. */
export const legacyJudge =
  (readTarget: ReadLegacyTarget): Judge =>
  ({ method, path }, answer, target = readTarget(path)) => {
    const { status, headers } = answer;
    const type = mediaType(headers);
    const isLeftCoded = contentCoding(headers) !== "" && !needsDecoding(status, type);
    const beginning = isLeftCoded ? undefined : decodedBeginning(answer);
    return judgementOf({ method, target, status, type, beginning });
  };
