import type { Context, Hono } from "hono";
import { z } from "zod";
import { parseJson } from "../../../src/catalogue/index.ts";
import type { Observer } from "../../../src/operation/index.ts";
import type { Migration } from "../migration.ts";
import { isForward, isSameStage, type MoveNote, type Stage, shareSchema, stageNames, stageSchema } from "../stage.ts";
import type { StageView } from "../views.ts";
import { auditEntries } from "./auditEntries.ts";

/** The classes of differences, the most urgent first. */
export const classifications = ["unexplained", "expected", "drift", "explained"] as const;

const needed = "a text of 1 to 500 characters is needed";
const line = z.string(needed).max(500, needed).trim().min(1, needed);

/** The operator who moves, the reason, and the reason for a step against the evidence. */
const who = { by: line, why: line, despite: line.optional() };

const moveSchema = stageSchema.extend(who);
const allSchema = z
  .strictObject({
    stage: z.enum([...stageNames, "former", "lost"]),
    share: shareSchema.optional(),
    endpoints: z.literal("reads").optional(),
    ...who,
  })
  .refine(
    ({ stage, share, endpoints }) =>
      stage === "legacy" || stage === "former" || stage === "lost"
        ? share === undefined && endpoints === undefined
        : endpoints !== undefined,
    { path: ["stage"], error: "legacy, former and lost move all endpoints, the other stages those that read" },
  );

const allAllowed =
  'allowed is {"stage": "legacy", "former" or "lost", "by": "who", "why": "..."} or {"stage": "shadow", "canary" or "modern", "share": 0 to 100, "endpoints": "reads", "by": "who", "why": "..."}, and "despite": "..." for steps against the evidence';
const moveAllowed =
  'allowed is {"stage": "legacy", "shadow", "canary" or "modern", "share": 0 to 100, "by": "who", "why": "..."}, and "despite": "..." for a step against the evidence; gates are set in STAGES';
const noModern = { detail: "There is no modern backend: MODERN_URL is not set." };
/** Says how to move against the evidence: `despite` is a member of the body. */
const remedy = 'To move anyway, give the reason as "despite".';

/** The fate of a move that was not stored in time: see the store's `update`. */
const takenBack = "If it is stored late, it may show for a moment and is taken back.";

/** Adds the routes of stages, differences, the audit log and the ledger. */
export const addMigrationRoutes = (app: Hono, migration: Migration, observer: Pick<Observer, "event">): void => {
  const names = Object.keys(migration.view());

  /** Answers with the stage after a change, or with the reason why nothing has changed. */
  const stored = async (c: Context, endpoint: string, change: () => Promise<boolean>): Promise<Response> => {
    try {
      return (await change())
        ? c.json(shown(migration.viewOf(endpoint)))
        : c.json({ detail: `Another move came first: look at GET /stages/${endpoint}, then try again.` }, 409);
    } catch (error) {
      observer.event("stage_not_kept", { endpoint, why: (error as Error).message });
      return c.json({ detail: `It could not be stored. ${takenBack} Look at /audit before you try again.` }, 503);
    }
  };

  app.get("/stages", (c) => c.json(Object.fromEntries(names.map((name) => [name, shown(migration.viewOf(name))]))));
  app.get("/stages/:endpoint", (c) => {
    const endpoint = c.req.param("endpoint");
    return names.includes(endpoint) ? c.json(shown(migration.viewOf(endpoint))) : c.json(noSuch(names), 404);
  });
  app.post("/stages/:endpoint", async (c) => {
    const endpoint = c.req.param("endpoint");
    if (!names.includes(endpoint)) return c.json(noSuch(names), 404);
    const read = readBody(await c.req.text(), moveSchema, moveAllowed);
    if (!read.ok) return c.json({ detail: read.detail }, 422);
    const { by, why, despite: reason, ...to } = read.value;
    if (to.stage !== "legacy" && !migration.hasModern) return c.json(noModern, 422);
    const against = migration.against(endpoint, to);
    if (against === undefined) return stored(c, endpoint, () => migration.move(endpoint, to, by, why));
    if (reason === undefined)
      return c.json({ detail: `${endpoint}: ${against.why}. ${remedy}`, evidence: against.evidence }, 409);
    return stored(c, endpoint, () => migration.move(endpoint, to, by, why, { despite: reason }));
  });
  app.post("/stages", async (c) => {
    const read = readBody(await c.req.text(), allSchema, allAllowed);
    if (!read.ok) return c.json({ detail: read.detail }, 422);
    const { stage, endpoints, by, why, despite: reason } = read.value;
    if (stage !== "legacy" && !migration.hasModern) return c.json(noModern, 422);
    const destination = destinationsOf(migration, read.value);
    const objections = names.flatMap((endpoint) => {
      const to = destination(endpoint);
      const against = to && migration.against(endpoint, to);
      return to && against ? [{ endpoint, to, ...against }] : [];
    });
    const opposed = new Set(objections.map(({ endpoint }) => endpoint));
    const held = reason === undefined ? objections : [];
    const isHeld = (endpoint: string) => reason === undefined && opposed.has(endpoint);
    const isSomeFree = names.some((endpoint) => !isHeld(endpoint) && destination(endpoint) !== undefined);
    if (held.length > 0 && !(endpoints === "reads" && isSomeFree)) {
      const byReason = [...Map.groupBy(held, ({ why: against }) => against)];
      const reasons = byReason.map(([against, alike]) => `${alike.map((row) => row.endpoint).join(", ")}: ${against}`);
      const evidence = Object.fromEntries(held.map((row) => [row.endpoint, { to: row.to, ...row.evidence }]));
      return c.json({ detail: `${reasons.join("; ")}. ${remedy}`, evidence }, 409);
    }
    const unmoved = endpoints && {
      stayed: names.filter((endpoint) => migration.isRead(endpoint) && destination(endpoint) === undefined),
      held: Object.fromEntries(held.map(({ endpoint, why: against }) => [endpoint, against])),
    };
    const now = new Date().toISOString();
    const { moved, failed } = await moveAll(
      migration,
      (endpoint) => (isHeld(endpoint) ? undefined : destination(endpoint)),
      by,
      why,
      (endpoint) => ({
        // Setting lost stages again is not a move of many endpoints, which could be undone.
        all: stage === "former" ? migration.undoable(endpoint)?.all : stage === "lost" ? undefined : now,
        ...(opposed.has(endpoint) ? { despite: reason } : {}),
      }),
    );
    for (const failure of failed) observer.event("stage_not_kept", failure);
    if (failed.length === 0) return c.json({ moved, ...unmoved });
    const left = failed.map(({ endpoint }) => endpoint).join(", ");
    return c.json(
      {
        detail: `Moved: ${moved.join(", ") || "none"}. Not moved: ${left}. ${takenBack} Try again.`,
        moved,
        ...unmoved,
        failed,
      },
      503,
    );
  });
  app.get("/differences", (c) => {
    const wanted = c.req.query("kind") ?? "unexplained";
    const kind = classifications.find((known) => known === wanted);
    return kind === undefined
      ? c.json({ detail: `kind: ${JSON.stringify(wanted)} given; allowed are ${classifications.join(", ")}` }, 422)
      : c.json(migration.differences(kind));
  });
  app.get("/audit", (c) => c.json(auditEntries(migration.audit())));
  app.get("/expected", (c) => {
    const fired = migration.fired();
    return c.json(migration.expected().map((entry) => ({ ...entry, fired: fired.has(entry.id) })));
  });
};

/** A missing gate is written as `null`. */
const shown = (view: StageView) => ({ ...view, gate: view.gate ?? null });

const noSuch = (names: readonly string[]) => ({
  detail: `There is no such endpoint; allowed are ${names.join(", ")}.`,
});

/** A body that fits the schema, or its first error in one sentence. */
const readBody = <T extends z.ZodType>(
  text: string,
  schema: T,
  allowed: string,
): { ok: true; value: z.infer<T> } | { ok: false; detail: string } => {
  const json = parseJson(text);
  if (json === undefined) return { ok: false, detail: `This is no JSON; ${allowed}.` };
  const read = schema.safeParse(json);
  if (read.success) return { ok: true, value: read.data };
  const [issue] = read.error.issues;
  const at = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  return { ok: false, detail: `${at}${issue?.message ?? "wrong"}; ${allowed}.` };
};

/** The stage of each endpoint after a move of many; `undefined` if it stays. Reads that are further stay. */
const destinationsOf =
  ({ stageOf, undoable, lost, isRead }: Migration, { stage, share = 100, endpoints }: z.infer<typeof allSchema>) =>
  (endpoint: string): Stage | undefined => {
    if (stage === "former") return undoable(endpoint)?.from;
    if (stage === "lost") return lost(endpoint);
    const [at, to] = [stageOf(endpoint), { stage, share }];
    if (endpoints === undefined) return at.stage === "legacy" ? undefined : to;
    return !isRead(endpoint) || isSameStage(at, to) || isForward(to, at) ? undefined : to;
  };

/** Attempts to move an endpoint: each fails if another move comes first. */
const MAX_ATTEMPTS = 3;

/**
 * Moves each endpoint that has a `destination`; `undefined`: it is there already. `failed`: the endpoints that have
 * not moved, because their move could not be stored.
 */
const moveAll = async (
  { view, move }: Pick<Migration, "view" | "move">,
  destination: (endpoint: string) => Stage | undefined,
  by: string,
  why: string,
  note: (endpoint: string) => MoveNote,
): Promise<{ moved: string[]; failed: { endpoint: string; why: string }[] }> => {
  const moved: string[] = [];
  const failed: { endpoint: string; why: string }[] = [];
  const moveOne = async (endpoint: string): Promise<void> => {
    let to = destination(endpoint);
    for (let i = 0; i < MAX_ATTEMPTS && to; i++, to = destination(endpoint))
      if (await move(endpoint, to, by, why, note(endpoint))) return void moved.push(endpoint);
    if (to) failed.push({ endpoint, why: "others move it at the same time" });
  };
  await Promise.all(
    Object.keys(view()).map((endpoint) =>
      moveOne(endpoint).catch((error: Error) => void failed.push({ endpoint, why: error.message })),
    ),
  );
  return { moved, failed };
};
