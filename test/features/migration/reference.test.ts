import { beforeAll, describe, expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { ledgerSchema } from "../../../libraries/compare/ledger.ts";
import { endpoints } from "../../../transforms/index.ts";
import { staged, type Staged } from "./support.ts";

const shipped = ledgerSchema.parse(
  JSON.parse(readFileSync(new URL("../../../transforms/expectedDifferences.json", import.meta.url), "utf8")),
);
const OWNER = "DA1A0000000000000000000000000000";
const STRANGER = "00000000000000000000000000000000";
const byModern = "stage=modern; backend=modern; reason=stage";
const everywhere = Object.fromEntries(Object.keys(endpoints).map((name) => [name, { stage: "modern" as const }]));
const failures = ({ observer }: Staged) =>
  Object.entries(observer.counts()).filter(([event]) => event.startsWith("modern_failed"));

let sides: Staged;
beforeAll(async () => {
  sides = await staged(everywhere, { reference: true, parts: { expected: shipped } });
});
const post = (path: string, body: object) =>
  sides.ask(
    path,
    { "Content-Type": "application/json", "X-API-Key": OWNER },
    { method: "POST", body: JSON.stringify(body) },
  );

describe("a modern with the routes and shapes of the reference", () => {
  test.each<[string, unknown]>([
    ["/datasets/61", { id: 61, name: "iris", version: 1 }],
    ["/datasets/2", { id: 2, version_label: null }],
    ["/data/list/tag/flowers/limit/2", [{ did: 61, md5_checksum: null, format: "arff" }]],
    ["/setup/1", { setup_parameters: { setup_id: 1 } }],
    ["/setups/2", { setup_parameters: { setup_id: 2 } }],
    ["/studies/99", { id: 99 }],
    ["/study/sample-suite", { alias: "sample-suite" }],
    ["/flow/exists/sample.ZeroRule/Sample_1.0", { flow_id: 101 }],
    ["/estimationprocedure/list", [{ id: 1 }]],
    ["/evaluationmeasures/list", ["area_under_roc_curve"]],
  ])("a modern like the reference answers GET %s", async (path, body) => {
    const answer = await sides.ask(path);
    expect(answer).toMatchObject({ status: 200, decision: byModern });
    const [first, wanted] = [answer.body, body].map((value) => (Array.isArray(value) ? (value[0] as unknown) : value));
    expect([first]).toMatchObject([wanted]);
  });

  test.each<[string, number, unknown]>([
    ["/datasets/1000000", 404, { code: "111", message: "Unknown dataset" }],
    ["/datasets/16", 403, { code: "112", message: "No access granted" }],
    ["/data/list/data_name/no-such-dataset", 404, { code: "372", message: "No results" }],
    ["/studies/no-such-study", 404, { code: "601", message: "Study does not exist." }],
    ["/flow/exists/no.such.flow/1", 404, "Flow not found."],
  ])("the errors of a modern like the reference are in our form: GET %s is %i", async (path, status, detail) => {
    expect(await sides.ask(path)).toMatchObject({ status, body: { detail }, decision: byModern });
  });

  const tagged = '{"data_tag":{"id":61,"tag":[';
  test.each<[string, object, number, string]>([
    ["/datasets/list", { limit: 3 }, 200, '[{"did":'],
    ["/datasets/tag", { data_id: 61, tag: "of-modern" }, 200, tagged],
    ["/datasets/tag", { data_id: 61, tag: "of-modern" }, 409, '"473","message":"Entity already tagged by this tag."'],
    ["/datasets/untag", { data_id: 61, tag: "of-modern" }, 200, '{"data_untag":{"id":61,"tag":['],
    ["/datasets/untag", { data_id: 61, tag: "of-modern" }, 404, '{"detail":{"code":"475"'],
    ["/datasets/tag", { data_id: 1_000_000, tag: "x" }, 404, '{"detail":{"code":"472"'],
    ["/setup/tag", { setup_id: 1, tag: "of-modern" }, 200, '{"setup_tag":{"id":1,"tag":['],
    ["/setup/untag", { setup_id: 1, tag: "of-modern" }, 200, '{"setup_untag":{"id":1,"tag":['],
  ])("a modern like the reference answers POST %s %j with %i", async (path, given, status, body) => {
    const answer = await post(path, given);
    expect(answer).toMatchObject({ status, decision: byModern });
    expect(JSON.stringify(answer.body)).toContain(body);
  });

  test("modern gets the key of a request", async () => {
    const mine = await sides.ask("/datasets/16", { "X-API-Key": OWNER });
    expect(mine).toMatchObject({ status: 200, decision: byModern, body: { id: 16, visibility: "private" } });
    const wrong = await sides.ask("/datasets/16", { Authorization: "Bearer 5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A" });
    expect(wrong).toMatchObject({ status: 401, body: { detail: { code: "103", message: "Authentication failed" } } });
  });

  test("modern shows a private study to its creator alone; all others get 403", async () => {
    const asked = (headers: Record<string, string>) => sides.ask("/studies/105", headers);
    const owned = { status: 200, decision: byModern, body: { id: 105 } };
    expect(await asked({ "X-API-Key": OWNER })).toMatchObject(owned);
    const refused = {
      status: 403,
      decision: byModern,
      body: { detail: { code: "112", message: "No access granted" } },
    };
    expect(await asked({ "X-API-Key": STRANGER })).toMatchObject(refused);
    expect(await asked({})).toMatchObject(refused);
  });

  test("none of these answers counts as a failure of modern", () => {
    expect(failures(sides)).toEqual([]);
  });
});

describe("requests that only the gateway's interface allows", () => {
  test("legacy answers a page of more rows than the reference gives; it counts as failed", async () => {
    const { status, decision } = await post("/datasets/list", { limit: 10_000 });
    expect([status, decision]).toEqual([200, "stage=modern; backend=legacy; reason=fallback"]);
    expect(failures(sides)).toEqual([["modern_failed listDatasets", 1]]);
  });
});
