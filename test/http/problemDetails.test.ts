import fc from "fast-check";
import { expect, test } from "vitest";
import { openErrorFormats, problemTypes } from "../../src/http/problemDetails.ts";
import { answerOf, inputErrors, plainAnswer } from "../../src/endpoint/answer.ts";

const formats = openErrorFormats(["/v1", "/", "/v2"]);

test.each([
  [undefined, "detail"],
  ["*/*", "detail"],
  ["text/html", "detail"],
  ["application/problem+json", "problem"],
  ["Application/Problem+JSON;q=0.5", "problem"],
  ["application/json", "detail"],
  ["application/json, application/problem+json", "problem"],
  ["application/problem+json, application/json", "problem"],
  ["application/problem+json;q=0.4, */*;q=0.4", "problem"],
  ["application/json;q=0.9, application/problem+json", "problem"],
  ["application/json, application/problem+json;q=0.9", "detail"],
  ["application/problem+json;q=0", "detail"],
  ["application/problem+json;q=0, */*", "detail"],
  ["application/problem+json, */*;q=0.1", "problem"],
  ["*/*, application/json;q=0.2", "problem"],
])("Accept: %s prefers %s", (accept, preferred) => {
  const format = (path: string) => (formats(accept, path) === undefined ? "detail" : "problem");
  expect(["/v1/x", "/other", "/v2/x?y"].map(format)).toEqual([preferred, preferred, preferred]);
});

test("Accept may be any text", () => {
  fc.assert(fc.property(fc.string(), (accept) => void formats(`application/problem+json${accept}`, "/v1")));
});

const problemOf = (status: number, body: string | Buffer, path = "/v1/x") => {
  const format = formats("application/problem+json", path);
  return JSON.parse(String(format?.bytes(status, Buffer.from(body)))) as Record<string, unknown>;
};

test("a coded error keeps its code, and what legacy adds", () => {
  const { status, body } = answerOf({ kind: "notFound", code: "111", message: "Unknown dataset", additional: "61" });
  expect(problemOf(status, body)).toEqual({
    type: "/v1/problems/not-found",
    title: "There is no such resource",
    status: 404,
    detail: "Unknown dataset",
    code: "111",
    additional_information: "61",
  });
});

test("errors of the input are listed, and summed up in one sentence", () => {
  const errors = [
    { loc: ["body", "limit"], msg: "value is not a valid integer", type: "type_error.integer" },
    { loc: ["body", "data_id", 3], msg: "x".repeat(2000), type: "t" },
  ];
  const problem = problemOf(422, inputErrors(errors).body);
  expect(problem).toMatchObject({ type: "/v1/problems/invalid-input", status: 422, errors });
  expect(problem["detail"]).toMatch(/^body\.limit: value is not a valid integer; body\.data_id\.3: x+…$/);
});

test("a plain error keeps its text; a status without a type of its own gets one", () => {
  expect(problemOf(404, plainAnswer(404, "Flow not found.").body, "/x")).toMatchObject({
    type: "/problems/not-found",
    detail: "Flow not found.",
  });
  expect(problemOf(418, plainAnswer(418, "x").body)).toMatchObject({ type: "/v1/problems/error", status: 418 });
});

test("every slug is one type's", () => {
  const slugs = Object.values(problemTypes).map(({ slug }) => slug);
  expect(new Set(slugs).size).toBe(slugs.length);
});
