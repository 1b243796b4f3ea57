import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Flood, openFloodWatch, SAMPLED } from "../../../features/retirement/flood.ts";
import { clock } from "../../gateway/cache/support.ts";
import { openConnection } from "../../gateway/answer/support.ts";
import { listeningGateway } from "../../gateway/http/support.ts";
import { get, httpUpstream, send } from "../../gateway/proxy/support.ts";
import { settled, until } from "../../support/waiting.ts";
import { operatorsOf, textOf } from "../console/page/operators.ts";
import { gatewayOver, goodKeys } from "./support.ts";

const MINUTE = 60_000;
const [key] = goodKeys;

describe("a minute", () => {
  /** Requests of a minute by caller, and the requests to legacy for each of them. */
  type Minute = Record<string, [requests: number, asked: number]>;
  const watched = () => {
    const { pass } = clock(["setInterval"]);
    const begun: Flood[] = [];
    const watch = openFloodWatch((flood) => void begun.push(flood));
    onTestFinished(() => watch.close());
    const minute = (callers: Minute): Flood | undefined => {
      for (const [caller, [requests, asked]] of Object.entries(callers))
        for (let i = 0; i < requests; i += SAMPLED) watch.count(caller, asked);
      pass(MINUTE);
      return watch.flood();
    };
    return { begun, minute };
  };
  const many = (count: number): Minute =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`other ${i}`, [SAMPLED, 1]]));

  test.each<[what: string, Minute, isFlood: boolean]>([
    ["most requests, and they ask legacy", { a: [1200, 1], b: [600, 1] }, true],
    ["all requests, by the least number", { a: [600, 1] }, true],
    ["too few", { a: [590, 1] }, false],
    ["half of the requests", { a: [1200, 1], b: [1200, 1] }, false],
    ["a tenth of what legacy is asked", { a: [1600, 1], b: [1440, 10] }, false],
    ["more than that", { a: [1600, 1], b: [1440, 9] }, true],
    ["nothing that legacy is asked", { a: [1200, 0] }, false],
    ["more than all others, of whom there are too many to be counted apart", { ...many(1000), a: [6000, 1] }, false],
    ["more than each other, and less than all", { ...many(1000), b: [SAMPLED, 1], a: [SAMPLED, 1] }, false],
    ["more than half beside many", { a: [17_000, 1], ...many(1100) }, false],
    ["more than half beside fewer", { a: [18_000, 1], ...many(1100) }, true],
  ])("one caller sends %s: %j", (_, callers, isFlood) => {
    expect(watched().minute(callers) !== undefined).toBe(isFlood);
  });

  test("a flood has its beginning, its rate and a limit that spares the next caller", () => {
    const { begun, minute } = watched();
    expect(minute({ a: [2400, 1], b: [480, 2] })).toEqual({
      caller: "a",
      since: "2026-11-21T12:00:01.000Z",
      rate: 40,
      share: 150 / 180,
      limit: 16,
    });
    expect(minute({ a: [1200, 1] })).toMatchObject({ since: "2026-11-21T12:00:01.000Z", rate: 20, limit: 5 });
    expect(minute({ a: [600, 1] })).toMatchObject({ limit: 5 });
    expect(minute({})).toBeUndefined();
    expect(minute({ b: [1200, 1] })).toMatchObject({ since: "2026-11-21T12:04:01.000Z" });
    expect(begun.map(({ caller }) => caller)).toEqual(["a", "b"]);
  });
});

test.each<[who: string, targets: string[], agent: string, caller: RegExp, isListed: boolean]>([
  ["a key", [`/api/v1/json/data/1?api_key=${key}`, `/api/v1/json/data/2?api_key=${key}`], "x", /^[\w-]{12}$/, true],
  ["a made-up key", ["/api/v1/json/data/1?api_key=made-up"], "x made-up", /^127\.0\.0\.1 x \(not shown\)$/, false],
  [
    "no key",
    ["/v1/datasets/1", "/api/v1/json/data/1", "/website"],
    `x ${key}`,
    /^127\.0\.0\.1 x \(not shown\)$/,
    false,
  ],
])(
  "a flood with %s is on the page, in the log and a notice, without a key",
  async (_, targets, agent, caller, isListed) => {
    const { pass } = clock(["setInterval"]);
    const gateway = await gatewayOver({});
    const notices = vi.fn<(notice: { type: string }) => void>();
    gateway.core.events.on("notice", notices);
    const sendAll = (count: number, asked: readonly string[], by: string) =>
      Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let i = 0; i < count / 8; i++)
            await send(gateway.port, get(asked[i % asked.length] ?? "", `User-Agent: ${by}`));
        }),
      );
    await sendAll(640, targets, agent);
    await sendAll(32, ["/api/v1/json/data/1"], "other");
    await settled();
    pass(MINUTE);
    expect(notices.mock.calls.filter(([{ type }]) => type === "traffic.flood")).toEqual([
      [
        expect.objectContaining({
          type: "traffic.flood",
          caller: expect.stringMatching(caller) as string,
          limit: 5,
        }),
      ],
    ]);
    expect(gateway.core.observer.counts()["flood"]).toBe(1);
    const page = textOf(await (await operatorsOf({ gateway })).markup());
    expect(page).toMatch(
      /One caller sends \d\S* % of all requests since \d\d:\d\d UTC : \S.* sends 1\S* a second. To allow each caller 5 requests a second, on both interfaces, set RATE_LIMIT=5 in CONFIG and reload, or restart Traffic/,
    );
    for (const text of [page, JSON.stringify(notices.mock.calls)])
      expect(text).not.toMatch(new RegExp(`${key}|made-up`));
    const [{ caller: named } = {}] = notices.mock.calls.flat() as Partial<Flood>[];
    expect(gateway.clients().some(({ caller: listed }) => listed === named)).toBe(isListed);
  },
);

test("a caller that does not wait for its answers still floods legacy", async () => {
  const { pass } = clock(["setInterval"]);
  let asked = 0;
  const gateway = await listeningGateway(await httpUpstream(() => void asked++));
  for (let sent = 32; sent <= 640; sent += 32) {
    const connections = Array.from({ length: 32 }, () => openConnection(gateway.port));
    for (const [i, { socket }] of connections.entries()) socket.write(get(`/api/v1/json/data/${sent + i}`));
    await until(() => asked === sent);
    for (const { socket } of connections) socket.destroy();
    await settled();
  }
  await settled();
  pass(MINUTE);
  expect(gateway.core.observer.counts()["flood"]).toBe(1);
});
