import { connect } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { PrivateRowsView } from "../../../features/privateDatasets/scan.ts";
import { xmlError } from "../../gateway/http/support.ts";
import { settled, until } from "../../support/waiting.ts";
import { fronted, scanningThrough, through } from "./through.ts";
import { administrator, nobody, owner, secondAdministrator, user, wrongKey } from "./people.ts";

/** Times for which no test waits: a gateway that waited so long for legacy would hold up its test. */
const patient = { TOTAL_TIMEOUT_MS: "3600000", HEADERS_TIMEOUT_MS: "3600000" };

describe("a legacy that answers single datasets slowly, or not at all", () => {
  test("a legacy that hangs holds up no list: its own list is served, and marked", async () => {
    const front = await fronted();
    const { list, legacy } = await through(front, patient);
    front.replace(/GET .*\/(data\/\d+|evaluation\/)/);
    expect(await list(administrator)).toMatchObject({ ids: [2, 6, 9], isIncomplete: true });
    expect(await list(nobody)).toMatchObject({ ids: [2, 9], isIncomplete: false });
    front.replace(/GET .*\/data\/\d+/);
    expect(await list(secondAdministrator)).toMatchObject({ ids: [2, 3, 5, 6, 9], isIncomplete: false });
    await legacy(owner, "json/data/tag", { data_id: "3", tag: "mine" });
    expect(await list(secondAdministrator)).toMatchObject({ ids: [2, 5, 6, 9], isIncomplete: true });
    front.release();
  });

  test("a legacy that hangs does not hold up a stop", async () => {
    const front = await fronted();
    front.replace(/GET .*\/data\/\d+/);
    const { close, state } = await scanningThrough(front, patient);
    await until(() => state()?.at === 1);
    await close();
    expect(state()?.state).not.toBe("complete");
  });
});

describe("no caller causes many requests to legacy", () => {
  const ids = Array.from({ length: 3000 }, (_, i) => 200_000 + i);
  const body = ids.map((id) => `data_id[]=${id}`).join("&");

  test("a write that names many datasets causes no reads, even if it fails", async () => {
    const front = await fronted();
    const { url, port } = await through(front);
    const before = front.asked(secondAdministrator).length;
    const send = (key?: string) =>
      fetch(`${url}/api/v1/json/data/tag${key === undefined ? "" : `?api_key=${key}`}`, {
        method: "POST",
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
        body,
      });
    expect((await send()).status).toBe(412);
    expect((await send(user.key)).status).toBe(412);
    front.instead = (target) => target.startsWith("POST");
    const count = front.seen.length;
    const socket = connect(port, "127.0.0.1");
    socket.write(
      `POST /api/v1/json/data/edit HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => front.seen.length > count);
    socket.destroy();
    await settled();
    expect(front.asked(secondAdministrator).length - before).toBeLessThanOrEqual(0);
  });

  test("a wrong key is verified once a list, and no list is fetched", async () => {
    const front = await fronted();
    const { list } = await through(front);
    for (let i = 1; i <= 3; i++) {
      expect((await list(wrongKey, `status/all/limit/${i}`)).ids).toBe(401);
      expect(front.asked(wrongKey)).toHaveLength(i);
    }
  });
});

test.each<[string, RegExp, number, string, Partial<PrivateRowsView>]>([
  ["fails at a dataset that it was to read again", /GET .*\/data\/3\b/, 500, "", { hidden: 1 }],
  [
    "gives another dataset",
    /GET .*\/data\/3\b/,
    200,
    '{"data_set_description":{"id":"999","visibility":"public"}}',
    { hidden: 1 },
  ],
  [
    "refuses the administrator's key",
    new RegExp(secondAdministrator.key),
    412,
    xmlError(103, "No").body,
    { hidden: 0, trouble: "legacy does not know the key" },
  ],
])("where legacy %s no list waits for it", async (_, targets, status, body, view) => {
  const front = await fronted();
  const { list, legacy, state } = await through(front);
  front.replace(targets, status, body);
  await legacy(owner, "json/data/tag", { data_id: "3", tag: "mine" });
  await until(() => state()?.hidden === view.hidden && state()?.trouble === view.trouble);
  expect(await list(user, "status/all/limit/50")).toMatchObject({ ids: [2, 9], isIncomplete: false });
  // One that waited would not be over.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  for (let i = 0; i < 3; i++)
    expect(await list(administrator, `status/all/limit/${50 + i}`)).toMatchObject({ isIncomplete: true });
  expect(state()).toMatchObject({ state: "complete", rows: 3, ...view });
});
