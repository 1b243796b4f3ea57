import { LRUCache } from "lru-cache";

/** The codings an answer is kept in, the smallest first. */
export const codings = ["br", "gzip"] as const;
export type Coding = (typeof codings)[number];

const read = (header: string): readonly Coding[] => {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((side) => side.trim());
    const weight = parameters.find((one) => one.startsWith("q="))?.slice(2);
    weights.set(name === "x-gzip" ? "gzip" : name, weight === undefined ? 1 : Number(weight));
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get("*") ?? 0;
  const identity = weights.get("identity") ?? 0;
  return codings
    .filter((coding) => weightOf(coding) > 0 && weightOf(coding) >= identity)
    .toSorted((a, b) => weightOf(b) - weightOf(a));
};

// Clients send a handful of spellings.
const known = new LRUCache<string, readonly Coding[]>({ max: 200 });
const none: readonly Coding[] = [];

/** The codings a client takes, its favourite first, by its `Accept-Encoding` (RFC 9110, 12.5.3). Identity is always left. */
export const acceptedCodings = (header: string | undefined): readonly Coding[] => {
  if (header === undefined || header === "") return none;
  const remembered = known.get(header);
  if (remembered) return remembered;
  const accepted = read(header);
  if (header.length <= 100) known.set(header, accepted);
  return accepted;
};
