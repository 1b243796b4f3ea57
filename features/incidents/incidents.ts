import { randomUUID } from "node:crypto";
import { z } from "zod";
import { describeReason, isTrouble, type Outcomes, sumTraffic, truncate } from "../../src/operation/index.ts";
import type { Core, Notice } from "../../src/gateway/index.ts";
import type { KeyValueStore, Stores } from "../../libraries/stores/keyValueStore.ts";
import { percent, whatFails } from "../../libraries/ui/wording.ts";

const MAX_INCIDENTS = 50;
const KEPT_MS = 7 * 86_400_000;
const LOOK_MS = 5000;
/** Checks between two savings of a lasting incident; and checks without trouble after which an incident is over. */
const SAVE_EVERY = 12;
const OVER = 24;
/** The most causes and moves of an incident that are stored, and the most characters of a text. */
const MAX_NAMED = 10;
const MAX_TEXT = 500;

const CLIENTS = "clients";
/** The operator has chosen the sample legacy: that is no incident. */
const CHOSEN = "legacy_sample";

const text = z.string().transform((given) => truncate(given, MAX_TEXT));
const time = z.iso.datetime();
const incidentSchema = z.object({
  id: z.uuid(),
  /** `clients`, who got errors or would have without the cache; or the name of a dependency that failed. */
  of: text,
  begin: time,
  end: time,
  causes: z.array(text).max(MAX_NAMED),
  /** Requests that failed meanwhile, and that the cache answered. */
  failed: z.int(),
  cached: z.int(),
  /** When a client got an error last, and the failures of the worst minute; absent if there were few. */
  failedUntil: time.optional(),
  worst: text.optional(),
  /** The moves of operators meanwhile; `more`: endpoints that were moved alike. */
  moves: z.array(z.object({ at: time, endpoint: text, to: text, by: text, why: text, more: z.int() })).max(MAX_NAMED),
});
/** A move of an endpoint, as `migration` tells it. */
const moveSchema = z.object({ endpoint: text, by: text, why: text, to: z.object({ stage: text }) });

/** A trouble that lasted for a time, and its effect on clients. */
export type Incident = z.infer<typeof incidentSchema>;

/** `since`: the outcomes of requests since then. `worst`: most failures in a minute. `well`: checks without it. */
type Lasting = { incident: Incident; since: () => Outcomes; worst: number; well: number };

type WatchedCore = Pick<Core, "dependencies" | "events" | "legacyTroubles" | "meter" | "observer" | "traffic">;

/** Checks every five seconds whether something is wrong, records it, and reports its begin and end to `notice`. */
export const openIncidents = async (
  { dependencies, events, legacyTroubles, meter, observer, traffic }: WatchedCore,
  { open }: Pick<Stores, "open">,
) => {
  const { list, save, add } = openRecords(await open<Incident>({ feature: "incidents", schema: () => incidentSchema }));
  const lasting = new Map<string, Lasting>();
  let looks = 0;

  const tell = (type: string, at: string, incident: Incident): void =>
    void events.emit("notice", { type, at, ...incident });

  const begin = (of: string, at: string): Lasting => {
    const counts = { failed: 0, cached: 0 };
    const incident = { id: randomUUID(), of, begin: at, end: at, causes: [], ...counts, moves: [] };
    add(incident);
    return { incident, since: traffic.sinceNow(), worst: 0, well: 0 };
  };
  const over = async ({ incident }: Lasting): Promise<void> => {
    tell("incident.ended", incident.end, incident);
    await save(incident, true);
  };

  const look = (): void => {
    const minute = traffic.lastMinute();
    const { errors, requests } = sumTraffic(minute);
    const isHarm = isTrouble({ errors, requests });
    const now = new Date().toISOString();
    const failedAt = meter.lastFailed() ?? now;
    const { wrong, isLegacy } = findTroubles({ dependencies, legacyTroubles }, isHarm);
    for (const [of, causes] of wrong) {
      const at = of === CLIENTS && !isLegacy ? failedAt : now;
      const known = lasting.get(of);
      const kept = known ?? begin(of, at);
      lasting.set(of, kept);
      kept.well = 0;
      const { incident } = kept;
      const { errors: all, hits: cached } = kept.since();
      Object.assign(incident, { end: at > incident.end ? at : incident.end, failed: all, cached });
      incident.causes = [...new Set([...incident.causes, ...causes])].slice(0, MAX_NAMED);
      if (isHarm) incident.failedUntil = failedAt;
      if (isHarm && errors > kept.worst) {
        incident.worst = whatFails(minute);
        kept.worst = errors;
      }
      if (known === undefined) tell("incident.began", at, incident);
      if (known === undefined || looks % SAVE_EVERY === 0) save(incident, false).catch(observer.fault);
    }
    for (const [of, kept] of lasting) {
      if (wrong.has(of) || ++kept.well < OVER) continue;
      lasting.delete(of);
      over(kept).catch(observer.fault);
    }
    looks++;
  };

  events.on("notice", (notice) => {
    for (const { incident, well } of lasting.values()) if (well === 0) addNotice(incident, notice);
  });
  dependencies.onChange(look);
  const timer = setInterval(look, LOOK_MS).unref();
  return {
    list: () => list(),
    close: async (): Promise<void> => {
      clearInterval(timer);
      for (const kept of lasting.values()) await over(kept);
    },
  };
};

/** Opens the records of incidents: those that are stored, and those of this process that are not yet. */
const openRecords = (store: KeyValueStore<Incident>) => {
  /** Incidents of this process whose latest form the store does not have. */
  const own = new Map<string, Incident>();
  /** All incidents, the newest first. */
  const list = (now = new Date()): Incident[] =>
    [...new Map([...store.entries(), ...own]).values()]
      .filter(({ end }) => now.getTime() - Date.parse(end) < KEPT_MS)
      .toSorted((a, b) => b.begin.localeCompare(a.begin))
      .slice(0, MAX_INCIDENTS);
  /** Stores an incident, and deletes those that are too old or too many. The store reports failures. */
  const save = async (incident: Incident, isOver: boolean): Promise<void> => {
    const isSaved = await store.update(incident.id, () => incident).catch(() => false);
    if (isSaved && isOver) own.delete(incident.id);
    const kept = new Set(list().map(({ id }) => id));
    for (const id of own.keys()) if (!kept.has(id)) own.delete(id);
    for (const id of store.entries().keys()) if (!kept.has(id)) await store.update(id, () => null).catch(() => false);
  };
  return { list, save, add: (incident: Incident): void => void own.set(incident.id, incident) };
};

/**
 * Finds what is wrong now: the causes by the dependency that fails, those of clients' errors under `clients`. `isHarm`:
 * clients get errors. `isLegacy`: legacy fails.
 */
const findTroubles = (
  { dependencies, legacyTroubles }: Pick<WatchedCore, "dependencies" | "legacyTroubles">,
  isHarm: boolean,
): { wrong: Map<string, string[]>; isLegacy: boolean } => {
  const failed = dependencies.failed().filter(({ name }) => name !== CHOSEN);
  const causeOf = (failure: (typeof failed)[number]) => `${failure.trouble}: ${describeReason(failure)}`;
  const isLegacy = failed.some(({ name }) => name === "legacy");
  const others = failed.filter(({ name }) => name !== "legacy");
  const wrong = new Map(others.map((failure) => [failure.name, [causeOf(failure)]]));
  if (isHarm || isLegacy)
    wrong.set(CLIENTS, [...failed.map(causeOf), ...legacyTroubles().map(({ trouble }) => trouble)]);
  return { wrong, isLegacy };
};

/** Adds what a notice says to an incident that lasts: a move of an endpoint, or a flood as a possible cause. */
const addNotice = ({ causes, moves, of }: Incident, { type, at, ...members }: Notice): void => {
  if (type === "traffic.flood" && of === CLIENTS && causes.length < MAX_NAMED)
    causes.push(`Possibly a flood: one caller sends ${percent(Number(members["share"]))} of all requests`);
  const move = type.startsWith("stage.") ? moveSchema.safeParse(members).data : undefined;
  if (move === undefined) return;
  const { stage: to } = move.to;
  const alike = moves.find((made) => made.to === to && made.by === move.by && made.why === move.why);
  if (alike !== undefined) alike.more++;
  else if (moves.length < MAX_NAMED) moves.push({ ...move, at, to, more: 0 });
};
