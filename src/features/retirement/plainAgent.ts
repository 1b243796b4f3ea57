import { HIDDEN } from "../../scrub/secrets.ts";

const MOST = 200;
const control = /\p{Cc}/gu;
const keyLike = /(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])/gi;

/** A user agent as it may be shown: no control characters, no keys that somebody has put into it, at most 200 characters. */
export const plainAgent = (agent: string | undefined, key: string | undefined): string => {
  if (agent === undefined) return "";
  let plain = agent.replaceAll(control, "").replaceAll(keyLike, HIDDEN);
  // Keys are read in any case.
  if (key !== undefined && key.length > 3 && plain.toLowerCase().includes(key))
    plain = plain.replaceAll(new RegExp(RegExp.escape(key), "gi"), HIDDEN);
  return plain.slice(0, MOST);
};
