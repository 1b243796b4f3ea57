import { describe, expect, test } from "vitest";
import { run, script } from "./script.ts";
import { alice, bob, kept } from "./support.ts";

const wrong = "c".repeat(32);
const { listDatasets: list, ...others } = kept;

describe("whose answer a caller gets", () => {
  for (const [name, path] of Object.entries(others))
    script(`${name}: an answer fetched without a key is for all`)`
      ask ${path} -> 200 nobody 1 fwd=uri-miss stored
      ask alice ${path} -> 200 nobody 1
      says Cache-Control: private, no-cache
      ask alice ${path} -> 200 nobody 1 hit
    `;

  script("a list is fetched for each caller: it may show more to a key")`
    ask ${list} -> 200 nobody 1 fwd=uri-miss stored
    ask alice ${list} -> 200 alice 1 fwd=uri-miss stored
    ask bob ${list} -> 200 bob 1 fwd=uri-miss stored
    ask alice ${list} -> 200 alice 1 hit
    says Cache-Control: private, no-cache
    ask ${list} -> 200 nobody 1 hit
  `;

  script("a 404 fetched without a key is not served to a user: it may be their own record")`
    legacy loses all
    ask /v1/datasets/61 -> 404 fwd=uri-miss stored
    legacy finds all
    ask alice /v1/datasets/61 -> 200 alice 1 fwd=uri-miss stored
    ask /v1/datasets/61 -> 404 hit
  `;
});

for (const [name, path] of [
  ["a record", "/v1/datasets/61"],
  ["a list", list],
]) {
  describe(`the keys of ${name}`, () => {
    script("a wrong key gets 401 anywhere in a request, also with a cached answer")`
      ask ${path}
      ask alice ${path}
      ask ${path}?api_key=${wrong} -> 401
      ask ${path} with X-API-Key: ${wrong} -> 401
      ask ${path} with Authorization: Bearer ${wrong} -> 401
    `;

    script("one key is one owner, in three places and in capitals")`
      legacy shows all to alice alone
      ask alice ${path} -> 200 alice 1 fwd=uri-miss stored
      ask ${path}?api_key=${alice} -> 200 alice 1 hit
      ask ${path} with Authorization: bearer ${alice} -> 200 alice 1 hit
      ask ${path} with X-API-Key: ${alice.toUpperCase()} -> 200 alice 1 hit
      ask ${path} with X-API-Key: ${bob.toUpperCase()} -> 403
    `;

    script("a key that is refused in one spelling is refused in the other")`
      legacy shows all to alice alone
      ask alice ${path}
      legacy revokes alice's key
      ask ${path}?api_key=${alice.toUpperCase()} with Cache-Control: no-cache -> 401
      # The gateway answers this itself, to a key that legacy has accepted.
      ask alice /v1/datasets/abc -> 401
      ask alice ${path} -> 401
      0 stored
    `;

    script("a revoked key is refused within a minute, and what it fetched is gone")`
      legacy shows all to alice alone
      ask alice ${path} -> 200 alice 1
      1 stored
      legacy revokes alice's key
      pass 60 s
      ask alice ${path} -> 401
      0 stored
    `;

    script("at the moment of a refresh each caller gets their own answer")`
      ask alice ${path} -> 200 alice 1
      ask bob ${path} -> 200 bob 1
      ask ${path} -> 200 nobody 1
      legacy changes
      pass 1 d
      ask alice /v1/datasets/abc
      ask bob /v1/datasets/abc
      legacy got 5
      legacy holds
      public: ask 2 times ${path}
      hers: ask 2 times alice ${path}
      his: ask 2 times bob ${path}
      legacy got 3
      legacy answers
      public -> 200 nobody 2
      hers -> 200 alice 2
      his -> 200 bob 2
    `;
  });
}

describe("a record that turns private", () => {
  script("is gone for others with the next refresh, and stays gone while legacy fails")`
    ask /v1/datasets/61
    legacy shows all to alice alone
    pass 1 h
    ask bob /v1/datasets/61 -> 200 nobody 1 hit stale-while-revalidate
    legacy got 3
    ask /v1/datasets/61 -> 403
    ask bob /v1/datasets/61 -> 403
    ask alice /v1/datasets/61 -> 200 alice 1
    legacy is down
    ask /v1/datasets/61 -> 502
  `;

  script("is refused at once if the stale answer is too old to be served first")`
    ask /v1/datasets/61
    legacy shows all to alice alone
    pass 2 d
    ask bob /v1/datasets/61 -> 403
    ask /v1/datasets/61 -> 403
  `;

  script("stays cached for others if only one caller is refused")`
    ask /v1/datasets/61
    legacy shows all to alice alone
    ask bob /v1/datasets/61 with Cache-Control: no-cache -> 403
    ask alice /v1/setup/3
    ask alice /v1/datasets/61 -> 200 nobody 1 hit
  `;
});

test("a script stops at an unknown step, and at an unexpected answer", async () => {
  await expect(run("\nlegacy sleeps")).rejects.toThrow('line 1, "legacy sleeps": no such step');
  await expect(run("ask /v1/datasets/61 -> 200 hit")).rejects.toThrow(/line 1, .*expected '200 fwd=uri-miss stored'/);
  await expect(run("ask /v1/datasets/61 -> 200 hits")).rejects.toThrow("no expectation");
});
