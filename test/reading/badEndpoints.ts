import { endpoint } from "../../src/endpoint/endpoint.ts";
import { get } from "../../src/endpoint/legacyRequest.ts";
import type { Json } from "../../src/rules/rule.ts";
import { text } from "../../src/rules/values.ts";

const hoard = (): Json => {
  const all: Json[] = [];
  for (;;) all.push(Array.from({ length: 1000 }, (_, i) => `${i} and ${all.length}`));
};

const busy = (): Json => {
  for (;;);
};

/** As `busy`, without work for the processor. */
const stuck = (): Json => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);

const throwing = (): Json => {
  throw new Error("a rule that throws");
};

const bad = (read: () => Json) =>
  endpoint("GET /bad", {
    summary: "An endpoint whose rule misbehaves.",
    input: {},
    legacy: () => get`/bad`,
    output: { ...text, read: (legacy) => (JSON.stringify(legacy).includes("good") ? "good" : read()) },
    examples: {},
  });

/** Endpoints that only a thread of their own survives. */
export const endpoints = { hoard: bad(hoard), busy: bad(busy), stuck: bad(stuck), throwing: bad(throwing) };
