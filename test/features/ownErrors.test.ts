import { describe, expect, onTestFinished, test, vi } from "vitest";
import { exchange } from "../gateway/answer/support.ts";
import {
  bases,
  beAway,
  broken,
  expectEmpty,
  expectError,
  files,
  forms,
  reading,
  writing,
} from "../gateway/http/ownErrorsSupport.ts";
import { listeningGateway } from "../gateway/http/support.ts";
import { get, rawUpstream } from "../gateway/proxy/support.ts";
import { until } from "../support/waiting.ts";

describe.each(forms)("an error of a feature below LEGACY_PATH, as %s", (form) => {
  const [base = ""] = bases[form];

  test.each([
    ["a read", reading],
    ["a write", writing],
  ])("%s beyond its rate", async (_, send) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { port } = await listeningGateway(await beAway(), { RATE_LIMIT: "1" });
    for (let i = 0; i < 10; i++) await exchange(port, get("/v1/unknown"));
    expectError(form, await exchange(port, send(base)), 429, "107", "Too many requests: see Retry-After.");
  });
});

describe("while legacy fails", () => {
  test.each(forms)("a read without a stored answer is 503 with code 107, legacy not asked: %s", async (form) => {
    // One request a second is sent even then: the clock stands still behind it.
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { origin, requests } = await rawUpstream((socket) => socket.destroy());
    const { port, core } = await listeningGateway(origin, { CACHE_LEGACY: "all" });
    const [base = ""] = bases[form];
    for (let id = 1; id <= 3; id++) await exchange(port, get(`${base}/data/${id}`));
    await until(() => core.outage.isOn());
    expectError(form, await exchange(port, get(`${base}/data/4`)), 502, "107", broken);
    const before = requests.filter((text) => text.includes("/data/")).length;
    const answers = [await exchange(port, reading(base)), await exchange(port, get(`${base}/data/62`))];
    for (const answer of answers) expectError(form, answer, 503, "107", "The legacy interface is failing.");
    expect(requests.filter((text) => text.includes("/data/"))).toHaveLength(before);
  });
});

const hoursFromNow = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

describe.each(files)("a data file that fails has no body: %s", (path) => {
  test("a brown-out", async () => {
    const brownout = { path: "/", from: hoursFromNow(-1), until: hoursFromNow(1), status: 503 };
    const { port } = await listeningGateway(await beAway(), { BROWNOUTS: JSON.stringify([brownout]) });
    expectEmpty(await exchange(port, get(path)), 503);
  });

  test("beyond its rate", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { port } = await listeningGateway(await beAway(), { RATE_LIMIT: "1" });
    for (let i = 0; i < 10; i++) await exchange(port, get("/v1/unknown"));
    expectEmpty(await exchange(port, get(path)), 429);
  });
});
