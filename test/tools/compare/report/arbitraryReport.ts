import fc from "fast-check";
import type { Report } from "../../../../src/compare/report.ts";
import { anyText } from "../../../support/anyText.ts";

const kinds = ["explained", "expected", "drift", "unexplained"] as const;
const forms = ["status", "missing", "extra", "type", "value", "order", "moved"] as const;

/** Texts that have broken out of a format before. */
const hostile = fc.constantFrom(
  "</script>",
  "<!--",
  "--><script>alert(1)</script>",
  "</noscript>",
  "</style>",
  "]]>",
  "<![CDATA[",
  "&amp;&#0;",
  "`",
  "```\n```",
  "``|``",
  "\\|",
  "a | b",
  "\r\n| --- |",
  "</details>",
  "<b>x",
  "@someone #1",
  " ",
  "",
  "\u0000\u0001\u001b[31m",
  "\u2028",
  "\u202e",
  "\uFFFE",
  "\uD800",
  "\uDC00x",
  '"onload="x',
  "'",
  "__proto__",
);

export const text = fc.oneof(
  { weight: 3, arbitrary: hostile },
  { weight: 2, arbitrary: anyText({ maxLength: 12 }) },
  { weight: 1, arbitrary: fc.array(hostile, { minLength: 2, maxLength: 4 }).map((parts) => parts.join("")) },
  { weight: 1, arbitrary: fc.string({ minLength: 300, maxLength: 2500 }) },
);

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const texts = fc.array(text, { maxLength: 3 });
const count = fc.nat(2_000_000);
const record = <T>(value: fc.Arbitrary<T>) => fc.dictionary(text, value, { maxKeys: 4 });
const value = maybe(fc.oneof(text, fc.jsonValue({ maxDepth: 2 }))) as fc.Arbitrary<Report["differences"][0]["legacy"]>;

const curl = fc.record({ legacy: text, candidate: text }, { requiredKeys: ["candidate"] });
const kind = fc.constantFrom(...kinds);
const form = fc.constantFrom(...forms);

const summary = fc.record({
  compared: count,
  equal: count,
  explained: count,
  expected: count,
  drift: count,
  unexplained: count,
  failed: count,
});

const difference = fc.record({
  endpoint: text,
  path: text,
  form,
  kind,
  rule: maybe(text),
  cause: maybe(text),
  entry: maybe(text),
  legacy: value,
  expected: value,
  candidate: value,
  count,
  answers: count,
  curl,
});

const side = fc.record({ title: text, status: fc.nat(599) }, { requiredKeys: ["title"] });

const row = fc.record(
  {
    depth: fc.nat(14),
    name: text,
    left: text,
    right: text,
    form,
    kind,
    rules: texts,
    omitted: count,
  },
  { requiredKeys: ["depth", "name"] },
);

const example = fc.record({
  endpoint: text,
  question: text,
  result: fc.constantFrom("equal" as const, ...kinds),
  left: side,
  right: side,
  rows: fc.array(row, { maxLength: 6 }),
  curl,
});

const field = fc.record({
  endpoint: text,
  path: text,
  legacyPath: text,
  rules: texts,
  declared: texts,
  documents: count,
  seen: record(count),
  never: texts,
  examples: texts,
});

const cause = fc.record({ kind, name: text, fields: count, answers: count, endpoints: texts, curl });

/** Any possible report, and many impossible ones. */
export const arbitraryReport: fc.Arbitrary<Report> = fc.record({
  made: text,
  sides: fc.record({ legacy: text, candidate: text }, { requiredKeys: ["legacy"] }),
  summary,
  endpoints: record(summary),
  statuses: fc.array(fc.record({ endpoint: text, from: count, to: count, answers: count }), { maxLength: 4 }),
  latency: fc.array(
    fc.record({ endpoint: text, side: fc.constantFrom("legacy", "candidate"), p50: count, p95: count, total: count }),
    { maxLength: 4 },
  ),
  differences: fc.array(difference, { maxLength: 30 }),
  causes: fc.array(cause, { maxLength: 14 }),
  failures: fc.array(fc.record({ endpoint: text, why: text, count, curl }), { maxLength: 4 }),
  examples: fc.array(example, { maxLength: 4 }),
  coverage: fc.array(field, { maxLength: 4 }),
  schemaDrift: fc.array(field, { maxLength: 4 }),
  skipped: record(count),
});
