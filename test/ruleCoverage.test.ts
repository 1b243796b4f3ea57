import { expect, test } from "vitest";
import { readPairs } from "../fixtures/pairs.ts";
import type { Endpoint } from "../src/endpoint/endpoint.ts";
import { readLegacy } from "../src/legacy/reading.ts";
import { xmlReaderFor } from "../src/legacy/xml.ts";
import { collectChanges } from "../src/rules/notes.ts";
import type { Rule } from "../src/rules/rule.ts";
import { endpoints } from "../transforms/index.ts";

const namesIn = (rule: Rule): string[] => [rule.name, ...Object.values(rule.inside ?? {}).flatMap(namesIn)];

/** These only say what a value is; they change none. */
const changeNothing = new Set(["text", "object", "markup", "verbatim", "anyOrder"]);

test.each(Object.entries(endpoints))(
  "%s: each of its rules changes something in some fixture",
  (name, endpoint: Endpoint) => {
    const readXml = xmlReaderFor(endpoint);
    const { note, changes } = collectChanges();
    for (const { legacy } of readPairs(name))
      for (const { response } of legacy) {
        const reading = readLegacy(Buffer.from(response.body), readXml);
        if (reading.is === "document") endpoint.output.read(reading.document, note, reading.document);
      }
    const claimed = new Set(changes.map(({ rule }) => rule));
    expect(namesIn(endpoint.output).filter((rule) => !claimed.has(rule) && !changeNothing.has(rule))).toEqual([]);
  },
);
