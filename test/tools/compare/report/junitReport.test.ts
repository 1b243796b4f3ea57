import fc from "fast-check";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { expect, test } from "vitest";
import type { Report } from "../../../../src/compare/report.ts";
import { junitReport } from "../../../../src/tools/compare/report/junitReport.ts";
import { arbitraryReport } from "./arbitraryReport.ts";
import { sampleReport } from "./sampleReport.ts";

type Case = { "@name": string; failure?: { "#text": string }[]; error?: unknown[]; "system-out"?: string[] };
type Suite = { "@name": string; "@tests": string; "@failures": string; "@errors": string; testcase?: Case[] };

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  parseTagValue: false,
  trimValues: false,
  htmlEntities: true,
  processEntities: { enabled: true, maxTotalExpansions: Infinity, maxExpandedLength: Infinity },
  isArray: (name, _, isLeaf, isAttribute) => !isAttribute && name !== "testsuites" && (isLeaf || name !== "root"),
});

const suitesOf = (report: Report): Suite[] => {
  const written = junitReport(report);
  expect(XMLValidator.validate(written)).toBe(true);
  const { testsuites } = parser.parse(written) as { testsuites: { testsuite?: Suite[] } };
  return testsuites.testsuite ?? [];
};

test("an endpoint is a suite: unexplained differences fail, missing answers are errors", () => {
  const [dataset, list] = suitesOf(sampleReport()) as [Suite, Suite];
  expect(dataset).toMatchObject({
    "@name": "getDataset",
    "@tests": "3",
    "@failures": "1",
    "@errors": "1",
    "@time": "32.331",
  });
  expect(dataset.testcase?.map((one) => one["@name"])).toEqual([
    "compared",
    "/collection_date: value",
    "answers: legacy: no answer within 10 s",
  ]);
  expect(dataset.testcase?.[0]?.["system-out"]?.[0]).toContain("compared: 512\nequal: 0\nexplained: 504");
  const evidence = dataset.testcase?.[1]?.failure?.[0]?.["#text"];
  expect(evidence).toContain(`legacy     "1936"\nexpected   "1936"\ncandidate  1936\ncurl -s 'https://legacy.example/`);
  expect(list.testcase?.[1]?.failure).toHaveLength(1);
});

test("differences by a rule, by the ledger or gone when asked again fail nothing", () => {
  expect(suitesOf(sampleReport({ unexplained: 0 })).map((suite) => suite["@failures"])).toEqual(Array(9).fill("0"));
});

test("any report is valid XML, and each unexplained difference is a failure", () => {
  fc.assert(
    fc.property(arbitraryReport, (report) => {
      const suites = suitesOf(report);
      const unexplained = report.differences.filter(({ kind }) => kind === "unexplained");
      const places = new Set(unexplained.map(({ endpoint, path, form }) => JSON.stringify([endpoint, path, form])));
      const failures = suites.flatMap(({ testcase = [] }) => testcase.filter(({ failure }) => failure !== undefined));
      const errors = suites.flatMap(({ testcase = [] }) => testcase.filter(({ error }) => error !== undefined));
      expect(failures).toHaveLength(places.size);
      expect(errors).toHaveLength(report.failures.length);
    }),
  );
});
