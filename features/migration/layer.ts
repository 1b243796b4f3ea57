import { hash } from "node:crypto";
import { hashOfKey } from "../../src/operation/index.ts";
import {
  type CallerIdentity,
  type Context,
  type Core,
  dividesCallers,
  type Handler,
  type Layer,
  type OldReadBackend,
  type Served,
  uncached,
  type Writes,
} from "../../src/gateway/index.ts";
import { type Bucketing, bucketOf, decide, type StageDecision } from "./decide.ts";
import type { Migration } from "./migration.ts";
import type { MigrationSettings } from "./settings.ts";
import type { Modern } from "./modern.ts";
import { openModernBackend } from "./modernBackend.ts";
import { openShadow } from "./shadow.ts";

export type LayeredCore = Pick<
  Core,
  "authorize" | "cache" | "errors" | "meter" | "observer" | "settings" | "totalTimeout"
>;

/** Milliseconds until a mismatch is checked again. */
const RECHECK_MS = 1000;

/**
 * Opens the layer that chooses the side of each request. If modern fails at a read, legacy answers it. Both sides are
 * compared after the answer; `recheck`: milliseconds until a mismatch is checked again.
 */
export const openLayer = (
  core: LayeredCore & { writes: Writes },
  { FORCE_BACKEND: mayForce, MIRROR_RATE: rate }: MigrationSettings,
  modern: Modern,
  migration: Migration,
  recheck = RECHECK_MS,
) => {
  const backend = openModernBackend(core, modern, migration);
  const shadow = openShadow(core, modern, migration, rate, recheck);
  const help = "Answers by the side that made them.";
  const answers = core.meter.counter("backend_answers_total", help, ["backend", "reason"]);

  /** Modern reads or, if it gives no answer, legacy. Both sides are compared afterwards. */
  const read = async (context: Context, next: Handler, decided: StageDecision): Promise<Served> => {
    const isModern = decided.backend === "modern";
    const byModern = isModern ? await backend.read(context) : undefined;
    const isFallback = isModern && byModern === undefined;
    const served = byModern ?? (await next(context));
    const { status } = served.answer;
    if (isFallback && status >= 400 && status < 500) await backend.forget(context);
    // If neither side answers, modern's earlier answer is better than none.
    const stored = isFallback && status >= 500 ? await backend.readStored(context) : undefined;
    const fallback = stored ? { reason: "stale" } : { backend: "legacy" as const, reason: "fallback" };
    const decision: StageDecision = isFallback ? { ...decided, ...fallback } : decided;
    if (decision.stage === "legacy") return { ...served, decision };
    answers(decision.backend, decision.reason).value++;
    const afterwards = () => {
      if (migration.isCompared(context.endpoint.name))
        shadow.compare({ context, next, answered: served, backend: decision.backend });
    };
    return {
      ...(stored ?? served),
      decision,
      isDivided: dividesCallers(decided),
      // An incomplete list would differ from modern's, and an earlier answer from both.
      ...(served.isIncomplete || stored ? {} : { afterwards }),
    };
  };

  const bucketing = (asker: CallerIdentity): Bucketing => {
    const forced = mayForce ? asker.header("gateway-backend") : undefined;
    const bucket = () => bucketOf(digestOf(asker));
    return forced === "legacy" || forced === "modern" ? { bucket, forced } : { bucket };
  };

  const layer: Layer = (next) => async (context) => {
    const decision = migration.decide(context.endpoint.name, bucketing(context));
    const isModern = decision.backend === "modern";
    const refusal = isModern ? await core.authorize(context, true) : undefined;
    if (refusal) return { ...uncached(refusal), decision: { ...decision, backend: "gateway", reason: "credential" } };
    if (context.endpoint.writes === undefined) return read(context, next, decision);
    const served = await (isModern ? backend.write(context) : next(context));
    return { ...served, decision };
  };

  return {
    layer,
    /** Modern's answers to old clients. */
    oldReads: {
      backend: modern.identity,
      mayAnswer: (endpoint) => migration.movesOldClients(endpoint),
      read: backend.read,
      readStored: (context) => backend.readStored(context),
      count: ({ backend: side, reason }) => void answers(side, reason).value++,
    } satisfies OldReadBackend,
    /** Decides which side answers this caller, by the endpoint's stage and the side that the request names. */
    decide: (endpoint: string, asker: CallerIdentity) => decide(migration.stages.of(endpoint), bucketing(asker)),
    shed: shadow.shed,
    idle: () => shadow.idle(),
  };
};

/** The unsalted SHA-256 (base64url) of a caller, by which it always sees one side: of its key, or address and agent. */
const digestOf = ({ caller, header }: CallerIdentity): string => {
  const { key } = caller.credential;
  if (key !== undefined) return hashOfKey(key, "key ");
  return hash("sha256", `client ${caller.address} ${header("user-agent") ?? ""}`, "base64url");
};
