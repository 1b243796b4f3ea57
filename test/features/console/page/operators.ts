import type { Hono } from "hono";
import { onTestFinished } from "vitest";
import { startAdminServer } from "../../../../src/features/console/adminServer.ts";
import { consoleListener } from "../../../../src/features/console/consoleListener.ts";
import { roomyLimits } from "../../../http/limits.ts";
import type { LedgerEntry } from "../../../../src/compare/ledger.ts";
import type { Stage } from "../../../../src/features/migration/stage.ts";
import { sampleConsole } from "./sampleConsole.ts";
import { sampleData } from "./sampleData.ts";

/** An operators' listener over a socket, whose stages, differences and ledger are held in memory. */
export const operatorsListener = async ({ token }: { token?: string } = {}) => {
  const data = sampleData();
  const asked: string[] = [];
  const state = { data, asked, down: false, refuse: undefined as string | undefined };

  const routes = (app: Hono): void => {
    app.post("/stages/:endpoint", async (c) => {
      if (state.refuse !== undefined) return c.json({ detail: state.refuse }, 422);
      const endpoint = c.req.param("endpoint");
      const { stage, share, by, why } = await c.req.json<Stage & { by: string; why: string }>();
      const view = data.stages[endpoint];
      if (view === undefined) return c.json({ detail: "There is no such endpoint." }, 422);
      const at = new Date().toISOString();
      const from = { stage: view.stage, share: view.share };
      data.audit = [{ at, endpoint, by, why, from, to: { stage, share } }, ...data.audit];
      Object.assign(view, { stage, share, by, why, since: at });
      return c.json(view);
    });
    app.post("/expected", async (c) => {
      if (state.refuse !== undefined) return c.json({ detail: state.refuse }, 422);
      const entry = { id: `entry-${data.expected.length}`, ...(await c.req.json<Omit<LedgerEntry, "id">>()) };
      data.expected = [...data.expected, entry];
      data.differences = data.differences.map((one) =>
        one.endpoint === entry.endpoint && one.path === entry.path && one.form === entry.kind
          ? { ...one, kind: "expected", entry: entry.id, cause: entry.id }
          : one,
      );
      return c.json(entry);
    });
  };
  /** Notes that the page was requested, or fails. */
  const show = () => {
    asked.push("/");
    if (state.down) throw new Error("down");
    return { sections: [] };
  };
  const first = { routes, page: () => Promise.resolve({ show }) };
  const app = sampleConsole(() => data, { token, first });
  const server = await startAdminServer(consoleListener(app), "127.0.0.1", 0, roomyLimits);
  onTestFinished(() => server.stop());
  return { ...state, state, url: `http://127.0.0.1:${server.port}/` };
};
