import { createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { readCredential } from "../../http/credential.ts";
import { queryOf } from "../../http/requestTarget.ts";
import type { Keys } from "../../serve/keys.ts";
import { headerOf } from "../../serve/requestInput.ts";
import { clientAddress } from "../../upstream/forwarding.ts";
import { subnetOf } from "../../upstream/subnet.ts";

/** Who sends a request: the name of its bucket here, and in Redis. No key can be recovered from either. */
export type LimitedCaller = { own: string; shared: () => string };

type CallerSettings = {
  trusted: (address: string) => boolean;
  exempt: (address: string) => boolean;
  keys: Pick<Keys, "ownerOf" | "isProven">;
  /** Whether a key has a bucket: then legacy has accepted it before. */
  hasBucket: (own: string) => boolean;
  /** What the names in Redis are made with. */
  secret: string;
};

/**
 * Says who sends a request, or `undefined` if it is exempt. A key counts once legacy has accepted it: with made-up keys a client would get
 * a bucket for each. Any other request counts for its address, IPv6 for its /64.
 */
export const openCallers =
  ({ trusted, exempt, keys, hasBucket, secret }: CallerSettings) =>
  (request: IncomingMessage): LimitedCaller | undefined => {
    const { headers, socket, url = "" } = request;
    const address = clientAddress(socket.remoteAddress, String(headers["x-forwarded-for"] ?? "") || undefined, trusted);
    if (exempt(address)) return undefined;
    const query = queryOf(url);
    if (query !== "" || headers.authorization !== undefined || headers["x-api-key"] !== undefined) {
      const { key, refused } = readCredential(query, (name) => headerOf(request, name));
      if (key !== undefined && !refused) {
        // Legacy ignores the case of keys: else each spelling would have a bucket.
        const name = key.toLowerCase();
        const own = ownBucketOf(keys.ownerOf(name));
        const shared = () => `key ${createHmac("sha256", secret).update(name).digest("base64url").slice(0, 22)}`;
        if (hasBucket(own) || keys.isProven(keys.ownerOf(key))) return { own, shared };
      }
    }
    const name = `address ${subnetOf(address)}`;
    return { own: name, shared: () => name };
  };

/** The name of a key's bucket, by the salted hash of the key. */
export const ownBucketOf = (owner: string): string => `key ${owner}`;
