import fc from "fast-check";
import { expect, test } from "vitest";
import { documentOf, modelListFor, type ModelRow, modelList, ours } from "./modelList.ts";

/** How many lists of names are tried; `CASES=10000` for a long run. */
const CASES = Number(process.env["CASES"] ?? 300);

const numbered = (names: readonly string[]): ModelRow[] => names.map((name, i) => ({ did: i + 1, name }));

test("a page that is parsed in neither form is put together from its rows", async () => {
  const rows = numbered(["one", "R&D", 'say "hi"', "<b>x</b>", "&amp;"]);
  const { ask, asked } = modelListFor(rows);
  expect(documentOf(await ask())).toEqual(rows.map(ours));
  expect(asked.length).toBeLessThanOrEqual(8);
});

test("a thousand rows of which every third breaks one form take few requests", async () => {
  const rows = numbered(Array.from({ length: 1000 }, (_, i) => ["plain", `a & ${i}`, `a " ${i}`][i % 3] ?? ""));
  const { ask, asked } = modelListFor(rows, { limit: 1000 });
  expect(documentOf(await ask())).toEqual(rows.map(ours));
  expect(asked.length).toBeLessThanOrEqual(10);
});

test("a row that is read in neither form makes the page a 502", async () => {
  const { ask } = modelListFor(numbered(["one", 'both " & in one', "three"]));
  expect(documentOf(await ask())).toBe("broken");
});

test("a page takes at most 64 requests", async () => {
  const rows = numbered(Array.from({ length: 10_000 }, (_, i) => (i % 100 === 0 ? 'both " &' : `a & ${i}`)));
  const { ask, asked } = modelListFor(rows);
  expect(documentOf(await ask())).toBe("broken");
  expect(asked.length).toBeLessThanOrEqual(64);
});

test(
  "a page of 10,000 rows with one name of each kind takes fewer requests than that",
  { timeout: 30_000 },
  async () => {
    const rows = numbered(Array.from({ length: 10_000 }, (_, i) => ["a & b", 'a " b'][i - 5000] ?? "plain"));
    const { ask, asked } = modelListFor(rows);
    expect(documentOf(await ask())).toEqual(rows.map(ours));
    expect(asked.length).toBeLessThanOrEqual(40);
  },
);

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
  const document = documentOf(await ask());
  // The first name is read in neither form.
  expect(document).toBe("broken");
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
  ),
);
const names = fc.array(
  fc.array(fragment, { maxLength: 4 }).map((parts) => parts.join("")),
  {
    minLength: 1,
    maxLength: 12,
  },
);

test(
  "whatever names hold and in whatever order rows come, none is added and none is lost",
  { timeout: 60_000 },
  async () => {
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
  },
);

test("a name reads the same alone and beside any other", { timeout: 60_000 }, async () => {
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
    { numRuns: 100 },
  );
});
