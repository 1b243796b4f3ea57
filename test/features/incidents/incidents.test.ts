import { expect, test, vi } from "vitest";
import type { Incident } from "../../../features/incidents/incidents.ts";
import { incidentsPage } from "../../../features/incidents/page.ts";
import { headOf, operatorsOf, shown } from "../console/page/operators.ts";
import { clock } from "../../gateway/cache/support.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { until } from "../../support/waiting.ts";
import { staged, type Staged } from "../migration/support.ts";

const MINUTE = 60_000;

const incidentsOf = async ({ operate }: Pick<Staged, "operate">) =>
  (await operate("GET", "/incidents")).body as Incident[];

/** A gateway; `fail` makes three reads of one endpoint fail, the only failure of legacy. */
const failing = async (environment: Record<string, string> = {}) => {
  // With shorter times, a clock that is put forward would ring each of migration's timers thousands of times.
  const times = { recheck: 60_000, look: 60_000 };
  const opened = await staged({ getDataset: { stage: "shadow" } }, { environment, parts: { times } });
  const notices: Record<string, unknown>[] = [];
  opened.gateway.core.events.on("notice", (notice) => void notices.push(notice));
  const become = (form: string) =>
    fetch(`${opened.legacy.url}/outage${form}`, { method: form === "" ? "DELETE" : "POST" });
  const fail = async () => {
    await become("/page-504/data/features");
    // A connection that is kept would be closed when the clock is put forward, perhaps in the middle of a request.
    for (const id of [1, 2, 3])
      expect((await opened.ask(`/datasets/features/${id}`, { Connection: "close" })).status).toBe(502);
    // The probe would be late on a clock that is put forward meanwhile.
    await opened.gateway.core.outage.settled();
  };
  return { ...opened, notices, become, fail };
};

test("an incident has its begin, its end, its causes, what failed, and what was moved", async () => {
  const { pass } = clock(["setInterval"]);
  const opened = await failing();
  await opened.ask("/datasets/61");
  await opened.ask("/datasets/61");
  pass(5000);
  expect(await incidentsOf(opened)).toEqual([]);
  await opened.fail();
  pass(5000);
  expect(opened.notices).toMatchObject([{ type: "incident.began", of: "clients", failed: 3 }]);
  await opened.ask("/datasets/61");
  opened.gateway.core.events.emit("notice", { type: "traffic.flood", at: "", share: 0.8 });
  await opened.move("getDataset", { stage: "legacy" });
  await opened.become("");
  pass(4 * MINUTE);
  const incident = {
    of: "clients",
    begin: "2026-11-21T12:00:06.000Z",
    end: "2026-11-21T12:00:06.000Z",
    causes: ["Answers that are not from legacy", "Possibly a flood: one caller sends 80 % of all requests"],
    failed: 3,
    cached: 1,
    worst: "getDatasetFeatures 3 of 3",
    moves: [{ endpoint: "getDataset", to: "legacy", by: "Ada", why: "a test", more: 0 }],
  };
  expect(await incidentsOf(opened)).toMatchObject([incident]);
  const page = await (await operatorsOf(opened)).markup();
  expect(headOf(page).verdict).toBe("over");
  expect(shown(page, "causes")).toMatchObject([
    { causes: "2", text: expect.stringContaining(incident.causes.join("; ")) as string },
  ]);
  const figures = shown(page.slice(page.indexOf('id="incidents"')), "figure").slice(0, 2);
  expect(figures.map(({ figure, text }) => [figure, text?.at(-1)])).toEqual([
    ["failed", "3"],
    ["cached", "1"],
  ]);
  expect(opened.notices.map(({ type }) => type)).toEqual([
    "incident.began",
    "traffic.flood",
    "stage.moved",
    "incident.ended",
  ]);
  expect(opened.notices[3]).toMatchObject({ failed: 3, cached: 1 });
});

test("the page says something of an incident without a known cause", () => {
  const at = new Date().toISOString();
  const incident = { id: "a", of: "clients", begin: at, end: at, causes: [], failed: 3, cached: 1, moves: [] };
  const { sections } = incidentsPage(() => [incident]).show(new Date(), new URLSearchParams(), "");
  expect(shown(String(sections[0]?.content), "causes")).toMatchObject([
    { causes: "0", text: expect.stringMatching(/\w/) as string },
  ]);
});

test("a trouble that is back in two minutes is one incident; 50 are kept for a week", async () => {
  const { pass } = clock(["setInterval"]);
  const opened = await failing();
  await opened.fail();
  pass(70_000);
  await opened.fail();
  pass(5 * MINUTE);
  expect(await incidentsOf(opened)).toMatchObject([{ failed: 6 }]);
  for (let i = 0; i < 50; i++) {
    await opened.fail();
    pass(5 * MINUTE);
  }
  await until(async () => (await incidentsOf(opened)).every(({ failed }) => failed === 3));
  expect(await incidentsOf(opened)).toHaveLength(50);
  vi.setSystemTime(Date.now() + 7 * 24 * 60 * MINUTE);
  expect(await incidentsOf(opened)).toEqual([]);
});

test("incidents outlive a restart, and a failing dependency is an incident", async () => {
  const { pass } = clock(["setInterval"]);
  const DATA_DIR = temporaryFolder();
  const first = await failing({ DATA_DIR });
  await first.fail();
  pass(5000);
  first.gateway.core.dependencies.add("thing", { trouble: "A thing has been failing", effect: "" })(
    false,
    "it is gone",
  );
  await until(async () => (await incidentsOf(first)).length === 2);
  await first.close();
  expect(first.notices.map(({ type, of }) => `${String(type)} ${String(of)}`)).toEqual([
    "incident.began clients",
    "incident.began thing",
    "incident.ended clients",
    "incident.ended thing",
  ]);
  const second = await failing({ DATA_DIR });
  expect(await incidentsOf(second)).toMatchObject([
    { of: "thing", causes: ["A thing has been failing: it is gone"] },
    { of: "clients", failed: 3, causes: ["Answers that are not from legacy", "A thing has been failing: it is gone"] },
  ]);
});
