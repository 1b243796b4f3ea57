import { LRUCache } from "lru-cache";
import { idOfKey, monotonic } from "../../operation/index.ts";
import {
  type ErrorTable,
  isFrontsError,
  type LegacyRequest,
  type Outcome,
  outcomeOf,
  readLegacy,
  xmlReader,
} from "../../catalogue/index.ts";
import { openSingleFlight } from "../cache/singleFlight.ts";
import type { Caller, LegacyClient } from "../upstream/legacyClient.ts";

/** Harmless requests that show whether legacy accepts a key: one for any key, and one for keys that may write. */
export type KeyProbes = { reads: LegacyRequest; writes: LegacyRequest };

/** The store of verified keys: it remembers for a minute what legacy has answered about each key. */
export type Keys = ReturnType<typeof openKeys>;

const MINUTE = 60_000;
const MAX_KEYS = 10_000;

type KeysSettings = {
  client: LegacyClient;
  probes: KeyProbes;
  errors: ErrorTable;
  /** Milliseconds that a verification may take. */
  timeout: number;
  /** Called for every key that legacy refuses, with its id. */
  onRefused: (id: string) => void;
};

/** Opens the store of verified keys, which knows them by their ids (`idOfKey`). */
export const openKeys = ({ client, probes, errors, timeout, onRefused }: KeysSettings) => {
  const known = new LRUCache<string, { writes?: Outcome | "allowed" }>({
    max: MAX_KEYS,
    ttl: MINUTE,
    perf: monotonic,
  });
  const acceptedWithinHour = new LRUCache<string, true>({ max: MAX_KEYS, ttl: 60 * MINUTE, perf: monotonic });
  const refusedWithinHour = new LRUCache<string, true>({ max: MAX_KEYS, ttl: 60 * MINUTE, perf: monotonic });
  const readXml = xmlReader([]);

  const accept = (id: string) => {
    acceptedWithinHour.set(id, true);
    refusedWithinHour.delete(id);
  };
  const refuse = (id: string) => {
    known.delete(id);
    acceptedWithinHour.delete(id);
    refusedWithinHour.set(id, true);
    onRefused(id);
  };

  const verifications = openSingleFlight<Outcome | undefined>(timeout);

  const probe = async (caller: Caller, id: string, writes: boolean): Promise<Outcome | undefined> => {
    const reply = await client(writes ? probes.writes : probes.reads, "json", caller);
    if ("failed" in reply) return reply.failed;
    const { status } = reply;
    const reading = readLegacy(reply.body, readXml);
    const isError = reading.is === "error" && !isFrontsError(status, String(reading.code));
    const outcome = isError ? outcomeOf(reading, errors) : undefined;
    // Only an answer from legacy itself says anything about a key.
    const isAnswer = outcome ? outcome.kind !== "unknown" : reading.is === "document" && status === 200;
    if (!isAnswer) return { kind: "broken", message: "The legacy interface could not be asked about the key." };
    if (outcome?.kind === "unauthenticated") refuse(id);
    if (outcome?.kind === "unauthenticated" || outcome?.kind === "unavailable") return outcome;
    // The probe for writes names nothing to write, so any answer except "forbidden" means that the key may write.
    const refused = outcome?.kind === "forbidden" ? outcome : undefined;
    known.set(id, writes ? { writes: refused ?? "allowed" } : {});
    accept(id);
    return writes ? refused : undefined;
  };

  return {
    /** True if legacy accepted the key within the last minute. */
    isProven: (id: string): boolean => known.has(id),
    /** True if legacy accepted the key within the last hour, and has not refused it since. */
    wasAccepted: (id: string | undefined): boolean => id !== undefined && acceptedWithinHour.has(id),
    /** True if legacy refused the key within the last hour, and has not accepted it since. */
    wasRefused: (id: string | undefined): boolean => id !== undefined && refusedWithinHour.has(id),
    /** Notes that legacy has just refused this key. */
    refused: (key: string): void => refuse(idOfKey(key)),
    /** Notes that legacy has just accepted this key. */
    accepted(key: string): void {
      const id = idOfKey(key);
      if (!known.has(id)) known.set(id, {});
      accept(id);
    },
    /**
     * Asks legacy about a key, unless legacy accepted it within the last minute. `undefined`: the key is accepted (and
     * may write, if `writes`).
     */
    verify(caller: Caller & { key: string }, writes: boolean): Promise<Outcome | undefined> {
      const id = idOfKey(caller.key);
      const remembered = known.get(id);
      if (remembered && !writes) return Promise.resolve(undefined);
      if (remembered?.writes) return Promise.resolve(remembered.writes === "allowed" ? undefined : remembered.writes);
      // Concurrent requests with the same key share one verification.
      const verification = `${id} ${writes}`;
      return verifications.get(verification) ?? verifications.launch(verification, probe(caller, id, writes));
    },
  };
};
