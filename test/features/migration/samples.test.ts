import { expect, test } from "vitest";
import { curlsOf } from "../../../src/compare/curls.ts";
import { openDifferences } from "../../../src/features/migration/differences.ts";

const addresses = { legacy: "https://legacy.example/api/v1", candidate: "https://new.example", keyName: "KEY" };

test("the shortest keys break no sample: its members stay, and it is kept", () => {
  for (const key of ["a", "1", "at", "question", "null", "true", "path", "GET"]) {
    const differences = openDifferences();
    differences.add({
      endpoint: "getDataset",
      question: "GET /datasets/1",
      at: "2026-11-21T00:00:00.000Z",
      key,
      differences: [
        {
          path: "/id",
          at: "/id",
          form: "value",
          kind: "unexplained",
          expected: 12,
          candidate: { at: null, ok: true },
          count: 1,
        },
      ],
      curl: (scrub) => curlsOf(addresses, { method: "GET", path: "/datasets/1" }, true, undefined, scrub),
    });
    const [sample] = differences.view("unexplained")[0]?.samples ?? [];
    expect(Object.keys(sample ?? {}).toSorted()).toEqual(["at", "candidate", "curl", "expected", "question"]);
    expect(sample).toMatchObject({
      expected: 12,
      curl: { candidate: expect.stringContaining('"X-API-Key: $KEY"') as string },
    });
  }
});
