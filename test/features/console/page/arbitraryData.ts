import fc from "fast-check";
import { stageNames } from "../../../../src/features/migration/stage.ts";
import { hostileText as text } from "../../../support/hostileText.ts";
import type { SampleData } from "./sampleConsole.ts";

const count = fc.nat(2_000_000);
const share = fc.nat(100);
const part = fc.double({ min: 0, max: 1, noNaN: true });
const milliseconds = fc.double({ min: 0, max: 1e7, noNaN: true });
const link = fc.oneof(
  text,
  fc.constantFrom("javascript:alert(1)", "JaVaScRiPt:alert(1)", " https://x.example", 'https://x.example/"onclick="a'),
);
const value = fc.option(fc.oneof(text, fc.jsonValue({ maxDepth: 2 })), { nil: undefined });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const list = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 6 });

const at = fc.record({ stage: fc.constantFrom(...stageNames), share });
const latency = maybe(fc.record({ p50: milliseconds, p95: milliseconds }));

const parity = fc.record({
  compared: count,
  equal: count,
  explained: count,
  expected: count,
  drift: count,
  unexplained: count,
  comparisons: count,
  lower: part,
});

const stage = fc.record({
  stage: fc.constantFrom(...stageNames),
  share,
  since: text,
  by: text,
  why: text,
  parity,
  parityInStage: parity,
  against: maybe(text),
  rate: milliseconds,
  hitRatio: part,
  latency: fc.record({ legacy: latency, modern: latency }),
  errorRate: part,
  spark: fc.array(count, { maxLength: 60 }),
  gateSays: maybe(text),
});

const difference = fc.record({
  endpoint: text,
  path: text,
  kind: fc.constantFrom("explained" as const, "expected" as const, "drift" as const, "unexplained" as const),
  form: fc.constantFrom("status" as const, "missing" as const, "value" as const),
  rule: maybe(text),
  entry: maybe(text),
  cause: text,
  count,
  answers: count,
  samples: fc.array(
    fc.record({
      at: text,
      question: text,
      legacy: value,
      expected: value,
      candidate: value,
      curl: fc.record({ legacy: text, candidate: text }, { requiredKeys: ["candidate"] }),
    }),
    { maxLength: 3 },
  ),
});

const privateRows = fc.record({
  state: fc.constantFrom("scanning" as const, "complete" as const, "outdated" as const),
  trouble: maybe(text),
  rows: count,
  hidden: count,
  at: count,
  lastId: count,
  completedAt: maybe(text),
  calls: count,
  kept: fc.constantFrom("memory" as const, "directory" as const, "redis" as const),
  scansHere: fc.boolean(),
});

/** Any data that the page may have to show, with many texts that try to become markup. */
export const arbitraryData = fc.record({
  hasModern: fc.boolean(),
  stages: fc.dictionary(text, stage, { maxKeys: 5 }),
  differences: list(difference),
  audit: list(fc.record({ at: text, endpoint: text, by: text, why: text, from: at, to: at })),
  clients: list(fc.record({ caller: text, agent: text, path: text, count, first: text, last: text })),
  expected: list(
    fc.record({
      id: text,
      endpoint: text,
      path: text,
      kind: fc.constantFrom("value" as const, "*" as const),
      reason: text,
      link: maybe(link),
      owner: text,
      until: text,
    }),
  ),
  cache: fc.record({
    bound: fc.record({ bytes: count, entryBytes: count }),
    bytes: count,
    entries: count,
    evicted: count,
    shared: maybe(text),
    windows: fc.dictionary(text, fc.constant({ fresh: "10m" as const }), { maxKeys: 3 }),
    privateRows,
  }),
}) as fc.Arbitrary<SampleData>;
