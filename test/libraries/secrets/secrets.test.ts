import fc from "fast-check";
import { XMLValidator } from "fast-xml-parser";
import { describe, expect, test } from "vitest";
import { SAMPLE_KEY, openSecrets } from "../../../libraries/secrets/secrets.ts";

const key = "aBcD0123456789aBcD0123456789aBcD";
const { text, json } = openSecrets([key]);
const session = "5f4dcc3b5aa765d61d8327deb882cf99";

describe("a text", () => {
  test.each([
    [`GET /data/61?api_key=${key}`, `GET /data/61?api_key=${SAMPLE_KEY}`],
    ["?a=1&api_key=unknown1&b=2", `?a=1&api_key=${SAMPLE_KEY}&b=2`],
    ["next=%2Fdata%3Fapi_key%3Dunknown1%26b%3D2", `next=%2Fdata%3Fapi_key%3D${SAMPLE_KEY}%26b%3D2`],
    ['<b>Notice</b> {"api_key": "unknown1", "id"', `<b>Notice</b> {"api_key": "${SAMPLE_KEY}", "id"`],
    [String.raw`{\"api_key\":\"unknown1\"`, String.raw`{\"api_key\":\"${SAMPLE_KEY}\"`],
    ["<oml:api_key>unknown1</oml:api_key>", `<oml:api_key>${SAMPLE_KEY}</oml:api_key>`],
    ["<oml:session_hash>x1</oml:session_hash>", `<oml:session_hash>${SAMPLE_KEY}</oml:session_hash>`],
    ["Set-Cookie: ci_session=abc123; path=/", `Set-Cookie: ci_session=${SAMPLE_KEY}; path=/`],
    ["Cookie: theme=dark", `Cookie: theme=${SAMPLE_KEY}`],
    [
      "Cookie: a=1; remember=s3cret; b=2\nid=3",
      `Cookie: a=${SAMPLE_KEY}; remember=${SAMPLE_KEY}; b=${SAMPLE_KEY}\nid=3`,
    ],
    ["api-key=unknown1", `api-key=${SAMPLE_KEY}`],
    ["your API key: unknown1", `your API key: ${SAMPLE_KEY}`],
    ["?sid=unknown1&inside=1", `?sid=${SAMPLE_KEY}&inside=1`],
    ["/index.php?PHPSESSID=abc123", `/index.php?PHPSESSID=${SAMPLE_KEY}`],
    ["Authorization: Bearer abc.def-1", `Authorization: Bearer ${SAMPLE_KEY}`],
    ["authorization=Basic dTpw", `authorization=Basic ${SAMPLE_KEY}`],
    [`session_id=${session}`, `session_id=${SAMPLE_KEY}`],
    [`session: ${session}`, `session: ${SAMPLE_KEY}`],
    ["by R.A.Fisher@rothamsted.example, 1936", "by someone@example.org, 1936"],
    ["name%3Da.b%40c.example%26x", "name%3Dsomeone%40example.org%26x"],
    [String.raw`broken "\nann@c.example`, String.raw`broken "\nsomeone@example.org`],
    ["&lt;ann@c.example&gt;", "&lt;someone@example.org&gt;"],
    [key.toUpperCase(), SAMPLE_KEY],
  ])("%s", (before, after) => {
    expect(text(before)).toBe(after);
  });

  test.each([
    `md5_checksum ${session}`,
    `{"md5_checksum":"${session}"}`,
    `<oml:md5_checksum>${session}</oml:md5_checksum>`,
    `the session of a patient: 12`,
    "sklearn.pipeline.Pipeline(a=b)(1)@0.24.1",
    '{ "id" : 61,\n  "a\\/b": "\\u00e9" }',
    "",
  ])("%s stays as it is", (same) => {
    expect(text(same)).toBe(same);
  });
});

test("a document: members by name, texts within texts; the rest stays as written", () => {
  const inner = JSON.stringify({ api_key: "unknown1", at: `/x?api_key=${key}` });
  const before = `{ "api_key" : "unknown1", "keep":"a\\/b", "ci_session": ["a1"], "by": "ann@c.example",\n "session": "${session}", "inner": ${JSON.stringify(inner)}, "n": 1.50 }`;
  const cleanInner = JSON.stringify({ api_key: SAMPLE_KEY, at: `/x?api_key=${SAMPLE_KEY}` });
  expect(text(before)).toBe(
    `{ "api_key" : "${SAMPLE_KEY}", "keep":"a\\/b", "ci_session": ["${SAMPLE_KEY}"], "by": "someone@example.org",\n "session": "${SAMPLE_KEY}", "inner": ${JSON.stringify(cleanInner)}, "n": 1.50 }`,
  );
  expect(json({ key, ask: { text: "x" } })).toEqual({ key: SAMPLE_KEY, ask: { text: "x" } });
});

test("a short or odd key is refused: it could be any word", () => {
  expect(() => openSecrets(["dataset"])).toThrow("at least 16");
  expect(() => openSecrets(["not-letters-and-digits"])).toThrow("letters and digits");
});

const encodings: ((letter: string) => string)[] = [
  (letter) => letter,
  (letter) => letter.toUpperCase(),
  (letter) => `%${letter.charCodeAt(0).toString(16)}`,
  (letter) => `%25${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`,
  (letter) => `&#${letter.charCodeAt(0)};`,
  (letter) => `&amp;#x${letter.charCodeAt(0).toString(16)};`,
];
const anyKey = fc.stringMatching(/^[A-Za-z0-9]{16,40}$/).filter((secret) => !/^0+$/.test(secret));
/** A key, each of its letters in some encoding. */
const written = (secret: string) =>
  fc
    .array(fc.constantFrom(...encodings), { minLength: secret.length, maxLength: secret.length })
    .map((by) => Array.from(secret, (letter, i) => by[i]?.(letter)).join(""));
const noise = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(
    "api_key=",
    '"api_key":"',
    "session_hash=",
    "a@b.example",
    "\\n",
    "%3D",
    "&",
    "0",
    "ci_session=",
    "cookie:",
    ";ab=c",
    ";ab%3Dc",
    "; session_hash: authorization: bearer ",
    "{",
  ),
);
/** A text with a key in it, here and there. */
const withKey = anyKey.chain((secret) =>
  fc.array(fc.oneof(noise, written(secret)), { maxLength: 12 }).map((parts) => ({ secret, whole: parts.join("") })),
);
/** The text that a reader of any of the formats would see. */
const decoded = (whole: string): string =>
  whole
    .replaceAll(/%(?:25)*([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replaceAll(/\\+u00([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replaceAll(/&(?:amp;)*#x0*([0-9a-f]{1,4});/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replaceAll(/&(?:amp;)*#0*(\d{1,5});/g, (_, code: string) => String.fromCharCode(Number(code)))
    .toLowerCase();

describe("any text", () => {
  test("secrets within encoded texts are searched a bounded number of times", () => {
    const cookies = `/cookie:${";ab=c".repeat(50_000)}`;
    expect(text(cookies)).toBe(`/cookie:${`;ab=${SAMPLE_KEY}`.repeat(50_000)}`);
    const names = "session_hash=authorization: api_key:cookie:;a=".repeat(3000);
    for (const whole of [names, JSON.stringify({ cookies, names, within: JSON.stringify([names]) })])
      expect(text(text(whole))).toBe(text(whole));
  });

  test("no known key survives, in any encoding", () => {
    fc.assert(
      fc.property(withKey, ({ secret, whole }) => {
        const after = openSecrets([secret]).text(whole);
        expect(after.toLowerCase()).not.toContain(secret.toLowerCase());
        expect(decoded(after)).not.toContain(secret.toLowerCase());
      }),
    );
  });

  test("scrubbing twice changes nothing", () => {
    fc.assert(
      fc.property(withKey, ({ secret, whole }) => {
        const scrub = openSecrets([secret]);
        expect(scrub.text(scrub.text(whole))).toBe(scrub.text(whole));
      }),
    );
  });

  test("valid JSON stays valid JSON of the same form, without the key", () => {
    const document = withKey.chain(({ secret }) =>
      fc.tuple(
        fc.constant(secret),
        fc.jsonValue(),
        fc.array(fc.record({ api_key: written(secret), text: fc.oneof(written(secret), noise), n: fc.integer() })),
      ),
    );
    fc.assert(
      fc.property(document, fc.constantFrom(0, 2), ([secret, any, rows], indent) => {
        const after = openSecrets([secret]).text(JSON.stringify({ any, rows }, undefined, indent));
        const read = JSON.parse(after) as { rows: Record<string, unknown>[] };
        expect(read.rows.map((row) => Object.keys(row))).toEqual(rows.map((row) => Object.keys(row)));
        expect(read.rows.map(({ n }) => n)).toEqual(rows.map(({ n }) => n));
        expect(after.toLowerCase()).not.toContain(secret.toLowerCase());
      }),
    );
  });

  test("XML stays well-formed, without the key", () => {
    const escaped = (raw: string) =>
      raw
        .replaceAll("&", "&amp;")
        .replaceAll("<", "&lt;")
        .replaceAll('"', "&quot;")
        .replaceAll(/[^\x20-\x7e]/g, " ");
    fc.assert(
      fc.property(fc.array(withKey), anyKey, (texts, secret) => {
        const xml = texts.map(
          ({ whole }) =>
            `<oml:api_key of="${escaped(whole)}">${secret}</oml:api_key><oml:t>${escaped(whole)}${secret}</oml:t>`,
        );
        const after = openSecrets([secret]).text(`<oml:all xmlns:oml="urn:x">${xml.join("\n")}</oml:all>`);
        expect(XMLValidator.validate(after)).toBe(true);
        expect(after).not.toContain(secret);
      }),
    );
  });

  test("a checksum survives wherever no name says that it is a session", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9a-f]{32}$/), (md5) => {
        const document = JSON.stringify({ md5_checksum: md5, url: `/files/${md5}.arff` });
        expect(text(document)).toBe(document);
        expect(text(`<oml:md5_checksum>${md5}</oml:md5_checksum>`)).toContain(md5);
      }),
    );
  });

  test("a megabyte takes no quadratic time, which would be minutes", () => {
    const large = `${"a".repeat(500_000)} ${"\\".repeat(200_000)} ${"%40".repeat(100_000)} ${"a@".repeat(50_000)} ${"b.".repeat(50_000)} ${"session".repeat(20_000)}`;
    expect(text(large)).toBe(large);
    expect(text(`${large}@${large}`).length).toBeGreaterThan(large.length);
    expect(text(JSON.stringify({ large }))).toBe(JSON.stringify({ large }));
  });
});
