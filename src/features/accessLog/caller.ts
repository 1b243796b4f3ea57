import { createHmac, randomBytes } from "node:crypto";

/** Callers whose hash is remembered. */
const MAX_KNOWN = 1000;
/** Hexadecimal digits of a caller's hash: enough to tell the callers of a log apart. */
const DIGITS = 16;

/** Names a caller, an address or the salted hash of a key, by an HMAC with a secret: by default one of this process. */
export const openCallerHash = (secret: string | Buffer = randomBytes(32)): ((caller: string) => string) => {
  const known = new Map<string, string>();
  return (caller) => {
    let hash = known.get(caller);
    if (hash === undefined) {
      hash = createHmac("sha256", secret).update(caller).digest("hex").slice(0, DIGITS);
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(caller, hash);
    }
    return hash;
  };
};
