import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Beginning } from "../../src/passThrough/heldAnswer.ts";
import type { OutcomeKind } from "../../src/outcome/outcome.ts";
import { openFeed } from "../../src/privateRows/feed.ts";
import { openIndex } from "../../src/privateRows/index.ts";
import type { Json } from "../../src/rules/rule.ts";
import { legacyErrors } from "../../transforms/legacyErrors.ts";
import { privateDatasets } from "../../transforms/privateDatasets.ts";

/** A feed to an index that knows 3 and 5, the latter of user 16; and what it asks to be looked at. */
const opened = () => {
  const asked: number[] = [];
  const index = openIndex({ onFound: () => undefined, onRows: () => undefined });
  index.put({ id: 3, shown: { name: "kept" } });
  index.put({ id: 5, uploader: 16 });
  const feed = openFeed({
    knowledge: privateDatasets,
    index,
    questions: { ask: (id) => void asked.push(id) },
    walkSoon: () => void asked.push(Infinity),
    errors: legacyErrors,
    unsettled: 60_000,
  });
  return { asked, index, feed };
};

const answer = (body: string | Buffer, status = 200): Beginning => ({ status, headers: {}, body: Buffer.from(body) });
const zipped = ({ status, body }: Beginning, length = 1e6) => ({
  status,
  headers: { "content-encoding": "gzip" },
  body: gzipSync(body).subarray(0, length),
});
const error = (code: number) =>
  answer(`<oml:error xmlns:oml="http://openml.org/openml"><oml:code>${code}</oml:code></oml:error>`, 412);
const jsonError = (code: number) => answer(JSON.stringify({ error: { code: `${code}`, message: "x" } }), 412);

const PRIVATE_JSON = '{"data_set_description":{"id":"3","visibility":"private"}}';
const PUBLIC_JSON = '{"data_set_description":{"id":"3", "visibility": "public"}}';
const PRIVATE_XML =
  "<oml:data_set_description><oml:id>3</oml:id><oml:visibility>private</oml:visibility></oml:data_set_description>";

describe("a dataset that passes through", () => {
  test.each<[string, number, Beginning, boolean]>([
    ["private, as is known", 3, answer(PRIVATE_JSON), false],
    ["private, which is new", 4, answer(PRIVATE_JSON), true],
    ["private in XML, which is new", 4, answer(PRIVATE_XML), true],
    ["private, with blanks", 4, answer(PRIVATE_JSON.replaceAll(":", ":\n ")), true],
    ["public, as is known", 4, answer(PUBLIC_JSON), false],
    ["public, which is new", 3, answer(PUBLIC_JSON), true],
    ["public in XML, which is new", 3, answer(PRIVATE_XML.replace("private", "public")), true],
    ["that says nothing of it", 3, answer('{"data_set_description":{"id":"3"}}'), false],
    [
      "that talks of it in its description",
      4,
      answer(JSON.stringify({ data_set_description: { description: '"visibility":"private" <oml:visibility' } })),
      false,
    ],
    ["for nobody to see, as is known", 3, error(112), false],
    ["for nobody to see, which is new", 4, error(112), true],
    ["for nobody to see in JSON, which is new", 4, jsonError(112), true],
    ["that is none, as is known", 4, error(111), false],
    ["that is none, which is new", 3, error(111), true],
    ["that is none in JSON, which is new", 5, jsonError(111), true],
    ["to which the key is wrong", 3, error(103), false],
    ["without a file", 4, error(113), false],
    ["with a code that nobody has heard of", 3, error(99_999), false],
    ["that is no answer", 3, answer("<html>gone</html>", 502), false],
    ["that is empty", 3, answer("", 500), false],
    ["private, and zipped", 4, zipped(answer(PRIVATE_JSON)), true],
    ["private, zipped and cut off", 4, zipped(answer(PRIVATE_JSON + "x".repeat(5000)), 80), true],
    ["private, zipped and cut off before that is said", 4, zipped(answer(PRIVATE_JSON), 15), false],
    ["private, zipped to next to nothing", 4, zipped(answer(" ".repeat(2e6) + PRIVATE_JSON)), false],
    ["for nobody to see, and zipped", 4, zipped(error(112)), true],
    ["private, zipped in secret", 4, answer(gzipSync(PRIVATE_JSON)), false],
    ["private, said to be zipped", 4, { ...zipped(error(112)), body: Buffer.from(PRIVATE_JSON) }, false],
    ["for nobody to see, but cut off", 4, answer(error(112).body.subarray(0, 70), 412), false],
    ["private, but cut off before that is said", 4, answer(PRIVATE_JSON.slice(0, 50)), false],
    ["private, but cut off after that", 4, answer(PRIVATE_JSON.slice(0, -1)), true],
    ["that is no UTF-8", 3, answer(Buffer.from([0xff, 0xfe, 0x80]), 412), false],
    ["that redirects", 3, answer(PUBLIC_JSON, 302), false],
  ])("%s: %i", (_, id, passing, isAsked) => {
    const { feed, asked } = opened();
    feed.passed(id, passing);
    expect(asked).toEqual(isAsked ? [id] : []);
  });

  test.each([
    ["GET", "/api/v1/json/data/61", 61],
    ["GET", "/data/61/", 61],
    ["POST", "/api/v1/json/data/61", undefined],
    ["GET", "/api/v1/json/data/features/61", undefined],
    ["GET", "/api/v1/json/task/61", undefined],
    ["GET", "/api/v1/json/data/list", undefined],
  ])("is read by %s %s: %j", (method, path, id) => {
    expect(opened().feed.readBy(method, path)).toBe(id);
  });
});

describe("an endpoint's answer", () => {
  const read = (id: number, end: { ours: Json } | { kind: OutcomeKind }, isKeyed = true) => {
    const { feed, asked } = opened();
    feed.answered("getDataset", { dataset_id: id }, end, isKeyed);
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
    const { feed, asked, index } = opened();
    feed.answered("listDatasets", input, { ours: rows }, isKeyed);
    feed.answered("listDatasets", input, { kind: "notFound" }, isKeyed);
    expect(asked).toEqual(ids);
    expect(index.rows().map(({ uploader }) => uploader)).toEqual(uploaders);
    expect(index.get(3)?.shown).toEqual({ name: "kept" });
  });

  test("of another endpoint says nothing", () => {
    const { feed, asked } = opened();
    feed.answered("getFlow", { dataset_id: 3 }, { kind: "notFound" }, false);
    feed.answered("listFlows", {}, { ours: rows }, false);
    expect(asked).toEqual([]);
  });
});

describe("a write", () => {
  test("by the new interface is asked about where the row is known", () => {
    const { feed, asked } = opened();
    feed.touched(["dataset/3", "dataset/4", "datasets", "dataset", "setup/5", "dataset/5/x", "mydataset/5"]);
    expect(asked).toEqual([3]);
  });

  const upload = (id: number) => `<oml:upload_data_set xmlns:oml="x">\n  <oml:id>${id}</oml:id></oml:upload_data_set>`;
  test.each<[string, string[], Beginning, number[]]>([
    ["of rows, known or not", ["dataset/3", "dataset/4", "datasets"], answer("{}"), [3, 4]],
    ["that was refused", ["dataset/3", "datasets"], error(112), []],
    ["that was stored, and not found again by the index", ["dataset/3", "datasets"], jsonError(105), [3]],
    ["that failed", ["dataset/3", "datasets"], answer("<html>", 500), [3]],
    [
      "of more rows than anybody writes at once",
      Array.from({ length: 11 }, (_, i) => `dataset/${i + 1}`),
      answer("{}"),
      [Infinity],
    ],
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
    const { feed, asked } = opened();
    feed.written("/api/v1/json/data/edit", groups, written);
    vi.advanceTimersByTime(120_000);
    expect(asked).toEqual(ids);
  });

  test.each(["/api/v1/json/data/tag", "/api/v1/data/untag/"])("by %s changes only what is known", (path) => {
    const { feed, asked } = opened();
    feed.written(path, ["dataset/3", "dataset/4", "datasets"], answer("{}"));
    expect(asked).toEqual([3]);
  });

  test("whose answer is lost is asked about at once, and again when it must be over", () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { feed, asked } = opened();
    feed.written("/api/v1/data/edit", ["dataset/3", "dataset/4", "datasets"], undefined);
    vi.advanceTimersByTime(59_999);
    expect(asked).toEqual([3, 4]);
    vi.advanceTimersByTime(1);
    expect(asked).toEqual([3, 4, 3, 4]);
    vi.advanceTimersByTime(600_000);
    expect(asked).toHaveLength(4);
  });
});
