import type { Hono } from "hono";
import { z } from "zod";
import { entrySchema } from "../../../compare/ledger.ts";
import { parseJson } from "../../../rules/parseJson.ts";
import type { Observer } from "../../../telemetry/observer.ts";
import type { Migration } from "../migration.ts";
import { gateSchema, stageSchema } from "../stage.ts";
import type { StageView } from "../views.ts";

/** The members of the migration that operators use. */
export type OperatedMigration = Pick<
  Migration,
  "view" | "viewOf" | "hasModern" | "move" | "differences" | "audit" | "expected" | "fired" | "expect"
>;

/** The kinds of differences, the most urgent first. */
export const differenceKinds = ["unexplained", "expected", "drift", "explained"] as const;

const line = z.string().max(500);

const moveSchema = stageSchema.extend({
  gate: gateSchema.nullable().optional(),
  by: line.default("an operator"),
  why: line.default(""),
});

const moveAllowed =
  'allowed is {"stage": "legacy", "shadow", "canary" or "modern", "share": 0 to 100, "by": "who", "why": "..."}, and a "gate" (null takes it away)';
const entryAllowed =
  'allowed is {"endpoint": "getDataset" or "*", "path": "/version", "kind": "type" or "*", "reason": "...", "owner": "...", "until": "2027-06-30"}, and an "id", a "candidate" (only where modern says this) and a "link"';

/** The id of an entry if the operator gives no other one. */
const idOf = (endpoint: string, path: string): string =>
  `${endpoint}-${path}`
    .replaceAll(/[^A-Za-z0-9]+/g, "-")
    .toLowerCase()
    .replaceAll(/^-+|-+$/g, "") + `-${Date.now().toString(36)}`;

/** Adds the routes of stages, differences, the audit log and the ledger. */
export const addMigrationRoutes = (
  app: Hono,
  migration: OperatedMigration,
  observer: Pick<Observer, "event">,
): void => {
  const names = Object.keys(migration.view());

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
    const { by, why, ...to } = read.value;
    if (to.stage !== "legacy" && !migration.hasModern)
      return c.json({ detail: "There is no modern backend: MODERN_URL is not set." }, 422);
    try {
      const moved = await migration.move(endpoint, to, by, why);
      return moved
        ? c.json(shown(migration.viewOf(endpoint)))
        : c.json({ detail: "Somebody else has moved it just now." }, 409);
    } catch (error) {
      observer.event("stage_not_kept", { endpoint, why: (error as Error).message });
      return c.json({ detail: "It could not be written down, so nothing has moved." }, 503);
    }
  });
  app.get("/differences", (c) => {
    const given = c.req.query("kind") ?? "unexplained";
    const kind = differenceKinds.find((one) => one === given);
    return kind === undefined
      ? c.json({ detail: `kind: ${JSON.stringify(given)} given; allowed are ${differenceKinds.join(", ")}` }, 422)
      : c.json(migration.differences(kind));
  });
  app.get("/audit", (c) => c.json(migration.audit()));
  app.get("/expected", (c) => {
    const fired = migration.fired();
    return c.json(migration.expected().map((entry) => ({ ...entry, fired: fired.has(entry.id) })));
  });
  app.post("/expected", async (c) => {
    const read = readBody(
      await c.req.text(),
      entrySchema.extend({ id: entrySchema.shape.id.optional() }),
      entryAllowed,
    );
    if (!read.ok) return c.json({ detail: read.detail }, 422);
    const { value } = read;
    if (value.endpoint !== "*" && !names.includes(value.endpoint)) return c.json(noSuch(names), 422);
    const entry = { ...value, id: value.id ?? idOf(value.endpoint, value.path) };
    try {
      return (await migration.expect(entry)) ? c.json(entry) : c.json({ detail: `The id ${entry.id} is taken.` }, 409);
    } catch (error) {
      observer.event("stage_not_kept", { endpoint: value.endpoint, why: (error as Error).message });
      return c.json({ detail: "It could not be written down." }, 503);
    }
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
  const given = parseJson(text);
  if (given === undefined) return { ok: false, detail: `This is no JSON; ${allowed}.` };
  const read = schema.safeParse(given);
  if (read.success) return { ok: true, value: read.data };
  const [issue] = read.error.issues;
  const at = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  return { ok: false, detail: `${at}${issue?.message ?? "wrong"}; ${allowed}.` };
};
