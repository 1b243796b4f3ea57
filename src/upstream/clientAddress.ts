import { plainAddress } from "./plainAddress.ts";

/** Whose request it is: the right-most address of X-Forwarded-For and the peer that no trusted proxy holds, else the left-most. */
export const clientAddress = (
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: (address: string) => boolean,
): string => {
  let client = plainAddress(peer ?? "") ?? "";
  if (forwardedFor === undefined || !trusted(client)) return client;
  const chain = forwardedFor.split(",");
  for (let i = chain.length - 1; i >= 0; i--) {
    const address = plainAddress((chain[i] ?? "").trim());
    // What is no address hides whoever stands left of it.
    if (address === undefined) return client;
    client = address;
    if (!trusted(client)) return client;
  }
  return client;
};
