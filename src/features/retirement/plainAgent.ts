import { HIDDEN } from "../../scrub/secrets.ts";

const MAX_LENGTH = 200;
const control = /\p{Cc}/gu;
const keyLike = /(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])/gi;

/** A user agent that can be shown: at most 200 characters, without control characters and keys. */
export const plainAgent = (agent: string | undefined, key: string | undefined): string => {
  if (agent === undefined) return "";
  let plain = agent.replaceAll(control, "").replaceAll(keyLike, HIDDEN);
  // Legacy ignores the case of keys.
  if (key !== undefined && key.length > 3 && plain.toLowerCase().includes(key))
    plain = plain.replaceAll(new RegExp(RegExp.escape(key), "gi"), HIDDEN);
  return plain.slice(0, MAX_LENGTH);
};
