import { expect, onTestFinished, test, vi } from "vitest";
import { openComparedRequests } from "../../../features/migration/comparedRequests.ts";
import type { StageInForce } from "../../../features/migration/stage.ts";
import { Track } from "../../../features/migration/track.ts";

const minute = 60_000;

/** A track of an endpoint that its gate has just moved to `shadow`, by a clock that differs by so many milliseconds. */
const trackAt = (difference = 0, requests = openComparedRequests()) => {
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const track = new Track(requests);
  const since = new Date(Date.now() + difference).toISOString();
  const at: StageInForce = { stage: "shadow", share: 100, since, by: "gate", why: "", configured: "" };
  return { track, evidence: () => track.evidence(at) };
};

test("the minutes of a gate go on where the clock is set back", () => {
  const { track, evidence } = trackAt();
  track.moved();
  vi.advanceTimersByTime(10 * minute);
  vi.setSystemTime(Date.now() - 60 * minute);
  expect(evidence()).toMatchObject({ minutes: 10, sinceDemotion: 10 });
  vi.advanceTimersByTime(minute);
  expect(evidence()).toMatchObject({ minutes: 11, sinceDemotion: 11 });
});

test("a stored move in the future counts from the start", () => {
  const { evidence } = trackAt(60 * minute);
  vi.advanceTimersByTime(10 * minute);
  expect(evidence()).toMatchObject({ minutes: 10, sinceDemotion: 10 });
});

test("a stored move counts from when it was made, and the evidence from the start", () => {
  const { evidence } = trackAt(-60 * minute);
  vi.advanceTimersByTime(10 * minute);
  expect(evidence()).toMatchObject({ minutes: 10, sinceDemotion: 70 });
});

test("a minute has failed if most of at least three answers of modern have", () => {
  const { track, evidence } = trackAt();
  /** Answers of a minute: 1 for each that failed. */
  const pass = (...answers: (0 | 1)[]) => {
    vi.advanceTimersByTime(minute);
    for (const failed of answers) track.asked("modern", 1, failed === 1);
    return evidence().failedMinutes;
  };
  expect([pass(1, 1), pass(1, 0, 1, 0), pass(1, 1, 0), pass(0, 0, 0, 1), pass(1, 1, 1)]).toEqual([0, 0, 1, 1, 2]);
  track.moved();
  expect(pass()).toBe(0);
});

test("differences since the move count after a restart, comparisons do not", () => {
  const requests = openComparedRequests(() => Date.now() - 30 * minute);
  for (const id of ["12345678", "abcdefgh"]) requests.add(id, "unexplained");
  const { evidence } = trackAt(-60 * minute, requests);
  expect(evidence()).toMatchObject({ unexplained: 2, conclusive: 0 });
  expect(trackAt(-10 * minute, requests).evidence()).toMatchObject({ unexplained: 0 });
});

test("modern's times are those of its answers since the move that have not failed", () => {
  const { track, evidence } = trackAt();
  track.asked("modern", 30, false);
  track.asked("modern", 40, true);
  expect(evidence().modern).toEqual({ asked: 2, failed: 1, times: [30] });
  track.moved();
  expect(evidence().modern).toEqual({ asked: 0, failed: 0, times: [] });
});
