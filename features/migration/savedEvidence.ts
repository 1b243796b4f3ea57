import { z } from "zod";
import type { KeyValueStore, Stores } from "../../libraries/stores/keyValueStore.ts";
import { type ComparedRequests, comparedSchema } from "./comparedRequests.ts";

/** The compared requests of an endpoint. `of`: identifies what made the compared answers. */
const evidenceSchema = z.strictObject({ of: z.string().max(100), requests: comparedSchema });

type EvidenceRecord = z.infer<typeof evidenceSchema>;

/** The compared requests, by endpoint. */
type EvidenceStore = KeyValueStore<EvidenceRecord>;

/** Opens the stored evidence. Evidence that cannot be read is collected again. */
export const openEvidenceStore = ({ open }: Pick<Stores, "open">): Promise<EvidenceStore> =>
  open({ feature: "evidence", schema: () => evidenceSchema });

/** Milliseconds between two savings. A process that is killed loses the evidence of this time. */
const SAVE_MS = 10_000;

/** The store of the evidence on some answers. */
export type StoredEvidence = {
  store: EvidenceStore;
  /** Identifies what makes the compared answers: stored evidence on other answers does not count. */
  of: string;
  /** Milliseconds between two savings. */
  interval?: number | undefined;
};

/**
 * Keeps evidence over a restart, and joins it with that of the other gateways on the same store.
 */
export const openSavedEvidence = (
  { store, of, interval = SAVE_MS }: StoredEvidence,
  requests: ReadonlyMap<string, ComparedRequests>,
) => {
  const read = new Map<string, EvidenceRecord>();
  const saved = new Map<string, number>();
  let saving: Promise<void> = Promise.resolve();

  const take = (): void => {
    for (const [endpoint, compared] of requests) {
      const record = store.get(endpoint);
      if (record === undefined || record === read.get(endpoint)) continue;
      read.set(endpoint, record);
      if (record.of === of) compared.merge(record.requests);
    }
  };
  const save = async (): Promise<void> => {
    for (const [endpoint, compared] of requests) {
      const version = compared.version();
      if (version === (saved.get(endpoint) ?? 0)) continue;
      await store.update(endpoint, (latest) => {
        if (latest?.of === of) compared.merge(latest.requests);
        return { of, requests: compared.toText() };
      });
      saved.set(endpoint, version);
      // A store in memory never waits: this lets requests come in between.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  /** The store reports why it cannot write. Evidence that was not saved is saved the next time. */
  const saveSoon = (): Promise<void> => (saving = saving.then(save).catch(() => undefined));

  take();
  store.onChange(take);
  const timer = setInterval(() => void saveSoon(), interval).unref();
  return {
    async close(): Promise<void> {
      clearInterval(timer);
      await saveSoon();
    },
  };
};
