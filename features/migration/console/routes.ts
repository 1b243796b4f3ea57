import type { Hono } from "hono";
import type { Observer } from "../../../src/operation/index.ts";
import type { Migration, StageView } from "../migration.ts";
import { auditEntries } from "./auditEntries.ts";
import { JointMove } from "./jointMove.ts";
import { readJointMove, readMove } from "./moveBodies.ts";

/** The classes of differences, the most urgent first. */
export const classifications = ["unexplained", "expected", "drift", "explained"] as const;

const noModern = { detail: "There is no modern backend: MODERN_URL is not set." };
/** Says how to move against the evidence: `despite` is a member of the body. */
const remedy = 'To move anyway, give the reason as "despite".';

/** The fate of a move that was not stored in time: see the store's `update`. */
const takenBack = "If it is stored late, it may show for a moment and is taken back.";

/** Adds the routes of stages, differences, the audit log and the ledger. */
export const addMigrationRoutes = (app: Hono, migration: Migration, observer: Pick<Observer, "event">): void => {
  addStageRoutes(app, migration);
  addMoveRoutes(app, migration, observer);
  app.get("/differences", (c) => {
    const wanted = c.req.query("kind") ?? "unexplained";
    const kind = classifications.find((known) => known === wanted);
    return kind === undefined
      ? c.json({ detail: `kind: ${JSON.stringify(wanted)} given; allowed are ${classifications.join(", ")}` }, 422)
      : c.json(migration.comparisons.view(kind));
  });
  app.get("/audit", (c) => c.json(auditEntries(migration.stages.audit())));
  app.get("/expected", (c) => {
    const fired = migration.comparisons.ledger.fired();
    return c.json(migration.comparisons.ledger.entries().map((entry) => ({ ...entry, fired: fired.has(entry.id) })));
  });
};

const addStageRoutes = (app: Hono, migration: Migration): void => {
  const { endpoints } = migration;
  app.get("/stages", (c) => c.json(Object.fromEntries(endpoints.map((name) => [name, shown(migration.viewOf(name))]))));
  app.get("/stages/:endpoint", (c) => {
    const endpoint = c.req.param("endpoint");
    return endpoints.includes(endpoint) ? c.json(shown(migration.viewOf(endpoint))) : c.json(noSuch(endpoints), 404);
  });
};

const addMoveRoutes = (app: Hono, migration: Migration, observer: Pick<Observer, "event">): void => {
  app.post("/stages/:endpoint", async (c) => {
    const endpoint = c.req.param("endpoint");
    if (!migration.endpoints.includes(endpoint)) return c.json(noSuch(migration.endpoints), 404);
    const read = readMove(await c.req.text());
    if (!read.ok) return c.json({ detail: read.detail }, 422);
    const { by, why, despite, ...to } = read.value;
    if (to.stage !== "legacy" && !migration.hasModern) return c.json(noModern, 422);
    const against = migration.against(endpoint, to);
    if (against !== undefined && despite === undefined)
      return c.json({ detail: `${endpoint}: ${against.why}. ${remedy}`, evidence: against.evidence }, 409);
    try {
      return (await migration.stages.move(endpoint, to, by, why, migration.noteOf(endpoint, to, despite)))
        ? c.json(shown(migration.viewOf(endpoint)))
        : c.json({ detail: `Another move came first: look at GET /stages/${endpoint}, then try again.` }, 409);
    } catch (error) {
      observer.event("stage_not_kept", { endpoint, why: (error as Error).message });
      return c.json({ detail: `It could not be stored. ${takenBack} Look at /audit before you try again.` }, 503);
    }
  });
  app.post("/stages", async (c) => {
    const read = readJointMove(await c.req.text());
    if (!read.ok) return c.json({ detail: read.detail }, 422);
    if (read.value.stage !== "legacy" && !migration.hasModern) return c.json(noModern, 422);
    const joint = new JointMove(migration, read.value);
    if (joint.isRefused()) {
      const byReason = [...Map.groupBy(joint.held, ({ why }) => why)];
      const reasons = byReason.map(([why, alike]) => `${alike.map(({ endpoint }) => endpoint).join(", ")}: ${why}`);
      const evidence = Object.fromEntries(joint.held.map((row) => [row.endpoint, { to: row.to, ...row.evidence }]));
      return c.json({ detail: `${reasons.join("; ")}. ${remedy}`, evidence }, 409);
    }
    const unmoved = joint.unmoved();
    const { moved, failed } = await joint.carryOut();
    for (const failure of failed) observer.event("stage_not_kept", failure);
    if (failed.length === 0) return c.json({ moved, ...unmoved });
    const left = failed.map(({ endpoint }) => endpoint).join(", ");
    const detail = `Moved: ${moved.join(", ") || "none"}. Not moved: ${left}. ${takenBack} Try again.`;
    return c.json({ detail, moved, ...unmoved, failed }, 503);
  });
};

/** A missing gate is written as `null`. */
const shown = (view: StageView) => ({ ...view, gate: view.gate ?? null });

const noSuch = (names: readonly string[]) => ({
  detail: `There is no such endpoint; allowed are ${names.join(", ")}.`,
});
