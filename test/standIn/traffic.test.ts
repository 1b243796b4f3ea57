import { expect, test } from "vitest";
import { type TrafficRequest, trafficOf } from "./program/traffic.ts";
import { trafficMapper } from "../../src/tools/corpus/mapTraffic.ts";
import { endpoints } from "../../transforms/index.ts";

const questionOf = ({ method, path, body, key }: TrafficRequest): string => JSON.stringify([method, path, body, key]);
const day = [...trafficOf(7, 20_000)];

test("is the same for the same seed, and begins alike however long it is", () => {
  expect([...trafficOf(7, 500)]).toEqual(day.slice(0, 500));
  expect([...trafficOf(8, 500)]).not.toEqual(day.slice(0, 500));
});

test("has requests for every reading endpoint, by its own paths", () => {
  const { routed } = trafficMapper(endpoints);
  const names = new Set<string>();
  for (const { endpoint, method, path } of day) {
    expect([path, routed(path)?.methods.get(method)?.name]).toEqual([path, endpoint]);
    names.add(endpoint);
  }
  expect([...names].toSorted()).toEqual(
    Object.entries(endpoints)
      .flatMap(([name, one]) => ("writes" in one ? [] : [name]))
      .toSorted(),
  );
});

test("is of many questions and callers, a few of them popular, few with a key", () => {
  const counts = new Map<string, number>();
  for (const request of day) counts.set(questionOf(request), (counts.get(questionOf(request)) ?? 0) + 1);
  const popular = [...counts.values()].toSorted((a, b) => b - a).slice(0, 50);
  expect(counts.size).toBeGreaterThan(5000);
  expect(popular.reduce((sum, count) => sum + count)).toBeGreaterThan(day.length / 4);
  expect(new Set(day.map(({ client }) => client)).size).toBeGreaterThan(2000);
  const keyed = day.filter(({ key }) => key !== undefined);
  expect(keyed.length / day.length).toBeGreaterThan(0.01);
  expect(keyed.length / day.length).toBeLessThan(0.06);
  expect(new Set(keyed.map(({ key }) => key)).size).toBe(5);
});
