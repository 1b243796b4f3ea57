import fc from "fast-check";
import { expect, test } from "vitest";
import { documentOf, modelListFor, type ModelRow, modelList, ours } from "./modelList.ts";
import { inLane } from "../support/lane.ts";

/** How many lists of names are tried; `CASES=10000` for a long run. */
const CASES = Number(process.env["CASES"] ?? 300);

const numbered = (names: readonly string[]): ModelRow[] => names.map((name, i) => ({ did: i + 1, name }));

test("bare signs in XML are read as they are, without requests for rows", async () => {
  const rows = numbered([
    "one",
    "R&D",
    'say "hi"',
    'both " & < in one',
    "a < b",
    "<!-- c -->",
    "&lt",
    "<![CDATA[",
    "<!DOCTYPE x>",
  ]);
  const { ask, asked } = modelListFor(rows);
  expect(documentOf(await ask())).toEqual(rows.map(ours));
  expect(asked).toHaveLength(2);
});

test("a page that is parsed in neither form is put together from its rows", async () => {
  const rows = numbered(["one", "R<oml:D>", 'say "hi"', "<b>x</b>", "&amp;"]);
  const { ask, asked } = modelListFor(rows);
  expect(documentOf(await ask())).toEqual(rows.map(ours));
  expect(asked.length).toBeLessThanOrEqual(8);
});

test("a thousand rows of which every third breaks one form take few requests", async () => {
  const rows = numbered(Array.from({ length: 1000 }, (_, i) => ["plain", `a <oml:${i}>`, `a " ${i}`][i % 3] ?? ""));
  const { ask, asked } = modelListFor(rows, { limit: 1000 });
  expect(documentOf(await ask())).toEqual(rows.map(ours));
  expect(asked.length).toBeLessThanOrEqual(10);
});

test.each([
  ["beside others", ["one", 'both " <oml:b> in one', "three"]],
  ["alone", ['both " <oml:b> in one']],
  ["with blanks around it, which legacy takes off elsewhere", ["one", '  both " <oml:b>  ', " two "]],
  ["with line ends", ["one", '\r\nboth\r\n" <oml:b>\r\n', "three"]],
  ["five times", Array.from({ length: 10 }, (_, i) => (i % 2 ? `"<oml:x${i}>` : `n${i}`))],
])("a row that no list shows readably is read apart: %s", async (_, some) => {
  const rows = numbered(some);
  const { ask, asked } = modelListFor(rows);
  expect(documentOf(await ask())).toEqual(rows.map(ours));
  expect(asked.length).toBeLessThanOrEqual(24);
});

/** Rows of a long page. */
const LONG = inLane(2000, 10_000);

test("a row that is read apart in a long page takes fewer than 30 requests", async () => {
  const rows = numbered(Array.from({ length: LONG }, (_, i) => (i === LONG / 2 ? 'say "R<oml:D>"' : "plain")));
  const { ask, asked } = modelListFor(rows);
  expect(documentOf(await ask())).toEqual(rows.map(ours));
  expect(asked.length).toBeLessThan(30);
});

test("six rows that no list shows readably make the page a 502", async () => {
  const { ask, asked } = modelListFor(
    numbered(Array.from({ length: 12 }, (_, i) => (i % 2 ? `"<oml:x${i}>` : `n${i}`))),
  );
  expect(documentOf(await ask())).toBe("broken");
  expect(asked.length).toBeLessThanOrEqual(64);
});

const error = (code: number): [number, string] => [
  412,
  JSON.stringify({ error: { code: String(code), message: "m" } }),
];
const named = (name: unknown, id = "2"): [number, string] => [
  200,
  JSON.stringify({ data_set_description: { id, name, version: "1", status: "active", format: "ARFF", file_id: "2" } }),
];

test.each<[string, [number, string], [number, string]]>([
  ["does not tell of it", error(113), error(362)],
  ["tells of another row", named('both " <oml:b>', "3"), error(362)],
  ["tells of another name", named("both"), error(362)],
  ["tells of a longer name", named('both " <oml:b> all'), error(362)],
  ["tells of no name", named([]), error(362)],
  ["fails at its qualities", named('both " <oml:b>'), error(999)],
  ["answers with something else", [200, '{"data":{}}'], error(362)],
  ["answers with nothing", [500, ""], error(362)],
])("a row that no list shows readably is a 502 where legacy %s", async (_, one, rest) => {
  const { ask } = modelListFor(numbered(["one", 'both " <oml:b>', "three"]), {
    told: { "": () => one, "/qualities": () => rest },
  });
  expect(documentOf(await ask())).toBe("broken");
});

test("a row that is read apart has no qualities where legacy has none", async () => {
  const { ask } = modelListFor(numbered(["one", 'both " <oml:b>']), {
    told: { "": () => named('both " <oml:b>'), "/qualities": () => error(362) },
  });
  expect(documentOf(await ask())).toMatchObject([{ did: 1 }, { did: 2, name: 'both " <oml:b>', quality: [] }]);
});

test("a name with a line end of two characters is read beside one with markup", async () => {
  const rows = numbered(["x\r\ny", "R<oml:D>", "three"]);
  const { ask } = modelListFor(rows);
  expect(documentOf(await ask())).toEqual(rows.map(ours));
});

test("a page takes at most 64 requests", async () => {
  const rows = numbered(Array.from({ length: 10_000 }, (_, i) => (i % 100 === 0 ? 'a ", "b' : `a <oml:${i}>`)));
  const { ask, asked } = modelListFor(rows);
  expect(documentOf(await ask())).toBe("broken");
  expect(asked.length).toBeLessThanOrEqual(64);
});

test("pages that share a budget take as many requests together as one", async () => {
  const { ask, asked } = modelListFor(numbered(["one", "R<oml:D>", 'say "hi"', 'both " <oml:b>']));
  const budget = { left: 12 };
  expect(documentOf(await ask("rows", {}, budget))).toHaveLength(4);
  expect(documentOf(await ask("rows", {}, budget))).toBe("broken");
  expect(asked).toHaveLength(12);
});

test("a long page with one name of each kind takes at most 40 requests", async () => {
  const rows = numbered(Array.from({ length: LONG }, (_, i) => ["a <oml:b>", 'a " b'][i - LONG / 2] ?? "plain"));
  const { ask, asked } = modelListFor(rows);
  expect(documentOf(await ask())).toEqual(rows.map(ours));
  expect(asked.length).toBeLessThanOrEqual(40);
});

test.each([
  ["that is on another page", 'x & ","did":9,"name":"y'],
  ["with its own name right behind it", 'x & ","did":9,"name":"nine'],
  ["in both forms", 'x & ","did":9,"name":"y<oml:did>9</oml:did><oml:name>nine'],
])("a name that holds a row %s adds none", async (_, name) => {
  const rows = [
    { did: 1, name },
    { did: 2, name: "two &" },
    { did: 3, name: 'three "' },
  ];
  const nine = { did: 9, name: "nine" };
  const { ask } = modelListFor([...rows, nine], { order: (some) => some, limit: 3 });
  expect(documentOf(await ask())).toEqual(rows.map(ours));
  const readable = [{ did: 1, name: 'x ","did":9,"name":"nine' }, ...rows.slice(1)];
  const other = modelListFor([...readable, nine], { limit: 3 });
  expect(documentOf(await other.ask())).toEqual(readable.map(ours));
});

test("a page that was cut off is no whole page", async () => {
  const rows = numbered(["R&D", 'say "hi"', "three", "four"]);
  const { ask } = modelListFor(rows, { cut: (text) => text.slice(0, -40) });
  expect(documentOf(await ask())).toBe("broken");
});

const fragment = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("a", "lab", " ", "b_1", "é", "0") },
  fc.constantFrom(
    '"',
    "&",
    "&amp;",
    "&lt;i&gt;",
    "<b>",
    "</b>",
    "<b>x</b>",
    "\\",
    "\\n",
    "]]>",
    "<!-- c -->",
    ',"did":7,\n   "name":"',
    '","did":3,\n   "name":"',
    '"},{"did":2,\n   "name":"',
    '","version":"9',
    '","more":"9',
    "</oml:name>",
    "<oml:did>4</oml:did>\n    <oml:name>",
    "</oml:name></oml:dataset><oml:dataset><oml:did>5</oml:did><oml:name>",
    "</oml:name><oml:version>2</oml:version><oml:name>",
    "\r\n",
    "\n",
    '","file_id":"9',
    '","licence":"9',
    '","version":"9","more":"9',
  ),
);
const names = fc.array(
  fc.array(fragment, { maxLength: 4 }).map((parts) => parts.join("")),
  {
    minLength: 1,
    maxLength: 12,
  },
);

test("whatever names hold and in whatever order rows come, none is added and none is lost", async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(names, fc.infiniteStream(fc.nat(1000)), async (some, numbers) => {
      const rows = numbered(some);
      const order = (page: ModelRow[]) =>
        page
          .map((row) => ({ row, at: numbers.next().value as number }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ row }) => row);
      const { ask, asked, close } = modelList(rows, { order });
      const document = documentOf(await ask());
      await close();
      expect(asked.length).toBeLessThanOrEqual(64);
      if (document === "broken") return;
      answered++;
      const byId = (document as { did: number }[]).toSorted((a, b) => a.did - b.did);
      expect(byId).toEqual(rows.map(ours));
    }),
    { numRuns: CASES },
  );
  expect(answered).toBeGreaterThan(CASES / 10);
});

test("a name reads the same alone and beside any other", async () => {
  await fc.assert(
    fc.asyncProperty(names, async (some) => {
      const read = async (rows: ModelRow[]) => {
        const { ask, close } = modelList(rows);
        const document = documentOf(await ask());
        await close();
        return document;
      };
      const rows = numbered(some);
      const page = await read(rows);
      if (page === "broken") return;
      for (const [i, row] of rows.entries()) expect([(page as unknown[])[i]]).toEqual(await read([row]));
    }),
    { numRuns: inLane(20, 100) },
  );
});
