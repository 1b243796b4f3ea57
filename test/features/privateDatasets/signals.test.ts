import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Beginning } from "../../../src/proxy/heldAnswer.ts";
import type { OutcomeKind } from "../../../src/endpoint/outcome.ts";
import type { Json } from "../../../src/rules/rule.ts";
import { answer, error, openedSignals, zipped } from "./smallSignals.ts";

describe("an endpoint's answer", () => {
  const read = (id: number, end: { ours: Json } | { kind: OutcomeKind }, isKeyed = true) => {
    const { asked, ...signals } = openedSignals();
    signals.answered("getDataset", { dataset_id: id }, end, isKeyed);
    return asked;
  };

  test.each<[number, { ours: Json } | { kind: OutcomeKind }, boolean]>([
    [3, { ours: { visibility: "private" } }, false],
    [4, { ours: { visibility: "private" } }, true],
    [3, { ours: { visibility: "public" } }, true],
    [4, { ours: { visibility: "public" } }, false],
    [3, { kind: "noAccess" }, false],
    [4, { kind: "noAccess" }, true],
    [3, { kind: "notFound" }, true],
    [4, { kind: "notFound" }, false],
    ...(["broken", "unavailable", "unauthenticated", "tooSlow", "unknown", "badState"] as const).flatMap(
      (kind): [number, { kind: OutcomeKind }, boolean][] => [
        [3, { kind }, false],
        [4, { kind }, false],
      ],
    ),
  ])("of %i: %j", (id, end, isAsked) => {
    expect(read(id, end)).toEqual(isAsked ? [id] : []);
    expect(read(id, end, false)).toEqual(isAsked ? [id] : []);
  });

  const rows = [1, 3, 5, 9].map((did) => ({ did }));
  test.each<[string, Record<string, unknown>, boolean, number[], (number | undefined)[]]>([
    ["nobody's list, with rows that are known", {}, false, [3, 5], [undefined, 16]],
    ["nobody's list of an uploader", { uploader: 17 }, false, [3, 5], [undefined, 16]],
    ["somebody's list", {}, true, [], [undefined, 16]],
    ["somebody's list of an uploader", { uploader: 16 }, true, [], [16, 16]],
    ["somebody's list of another", { uploader: 17 }, true, [], [17, 17]],
  ])("with %s", (_, input, isKeyed, ids, uploaders) => {
    const { asked, index, ...signals } = openedSignals();
    signals.answered("listDatasets", input, { ours: rows }, isKeyed);
    signals.answered("listDatasets", input, { kind: "notFound" }, isKeyed);
    expect(asked).toEqual(ids);
    expect(index.rows().map(({ uploader }) => uploader)).toEqual(uploaders);
    expect(index.get(3)?.shown).toEqual({ name: "kept" });
  });

  test("of another endpoint says nothing", () => {
    const { asked, ...signals } = openedSignals();
    signals.answered("getFlow", { dataset_id: 3 }, { kind: "notFound" }, false);
    signals.answered("listFlows", {}, { ours: rows }, false);
    expect(asked).toEqual([]);
  });
});

describe("a write", () => {
  test("by the new interface is asked about where the row is known", () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { asked, ...signals } = openedSignals();
    const groups = ["dataset/3", "dataset/4", "datasets", "dataset", "setup/5", "dataset/5/x", "mydataset/5"];
    signals.touched(groups, false);
    vi.advanceTimersByTime(120_000);
    expect(asked).toEqual([3]);
    signals.touched(groups, true);
    vi.advanceTimersByTime(120_000);
    expect(asked).toEqual([3, 3, 3]);
  });

  const upload = (id: number) => `<oml:upload_data_set xmlns:oml="x">\n  <oml:id>${id}</oml:id></oml:upload_data_set>`;
  const many = Array.from({ length: 11 }, (_, i) => `dataset/${i + 1}`);
  test.each<[string, string[], Beginning, number[]]>([
    ["of rows, known or not", ["dataset/3", "dataset/4", "datasets"], answer("{}"), [3, 4]],
    ["of one, named twice", ["dataset/3", "datasets", "dataset/3"], answer("{}"), [3]],
    ["that was refused", ["dataset/3", "datasets"], error(112), []],
    ["that was refused, and zipped", ["dataset/3", "datasets"], zipped(error(471)), []],
    ["that was stored, and not found by the index", ["dataset/3", "datasets"], error(105), [3]],
    ["that failed", ["dataset/3", "datasets"], answer("<html>", 500), [3]],
    ["of more rows than anybody writes at once", many, answer("{}"), [Infinity]],
    ["of something else", ["setup/3", "flows"], answer("{}"), []],
    ["that uploads, in JSON", ["dataset", "datasets"], answer('{"upload_data_set":{"id":"61"}}'), [61]],
    ["that uploads, with a number", ["dataset"], answer('{"upload_data_set": { "id": 61 } }'), [61]],
    ["that uploads, in XML", ["dataset"], answer(upload(61)), [61]],
    ["that uploads, and zipped", ["dataset"], zipped(answer(upload(61))), [61]],
    ["that uploads, but cut off", ["dataset"], answer(upload(61).slice(0, 40)), []],
    ["that uploads in vain", ["dataset"], answer(upload(61), 412), []],
  ])("through legacy's own %s", (_, groups, written, ids) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { asked, ...signals } = openedSignals();
    signals.written("/api/v1/json/data", groups, written);
    vi.advanceTimersByTime(120_000);
    expect(asked).toEqual(ids);
  });

  test("whose answer is lost is asked about at once, and again when it must be over", () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { asked, ...signals } = openedSignals();
    signals.written("/api/v1/json/data/4", ["dataset/3", "dataset/4", "datasets"], undefined);
    vi.advanceTimersByTime(59_999);
    expect(asked).toEqual([3, 4]);
    vi.advanceTimersByTime(1);
    expect(asked).toEqual([3, 4, 3, 4]);
    vi.advanceTimersByTime(600_000);
    expect(asked).toHaveLength(4);
  });

  test.each([
    ["/api/v1/json/data/tag", [3]],
    ["/api/v1/json/data/untag", [3]],
    ["/api/v1/json/data/edit", [3, 4]],
    ["/api/v1/json/data/tagged", [3, 4]],
  ])("by %s is asked about: %j", (path, ids) => {
    const { asked, ...signals } = openedSignals();
    signals.written(path, ["dataset/3", "dataset/4"], answer("{}"));
    expect(asked).toEqual(ids);
  });
});
