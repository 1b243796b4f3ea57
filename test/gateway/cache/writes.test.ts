import { describe } from "vitest";
import { script } from "./script.ts";

const list = "/v1/data/list/limit/5";

describe("a list after a write", () => {
  for (const write of ["old tag 61", "old untag 61", "old upload of data"])
    script(`is stale after "${write}", and served only while legacy fails`)`
      ask ${list}
      write alice ${write} -> 200
      legacy is down
      ask ${list} -> 200 nobody 1 fwd=stale stale-if-error
      legacy is well
      pass 1 s
      ask ${list} -> 200 nobody 2 fwd=stale stored
    `;

  for (const write of ["old status 61", "old delete 61"])
    script(`is gone after "${write}"`)`
      ask ${list}
      write alice ${write} -> 200
      legacy is down
      ask ${list} -> 502
    `;

  script("is fetched at once, even if it backed off")`
    ask ${list}
    pass 6 d
    legacy is empty-500
    ask ${list} -> 200 fwd=stale stale-if-error
    legacy got 2
    ask ${list} -> 200 fwd=stale stale-if-error
    legacy got 0
    legacy is well
    write alice tag 62 -> 200
    ask ${list} -> 200 nobody 2 fwd=stale stored
  `;
});

script("a 404 is gone after a write that adds to its kind")`
  legacy loses all
  ask /v1/setup/3 -> 404 fwd=uri-miss stored
  ask /v1/datasets/61 -> 404 fwd=uri-miss stored
  legacy finds all
  write alice old upload of run -> 200
  ask /v1/setup/3 -> 200
  ask /v1/datasets/61 -> 404 hit
  write alice old upload of data -> 200
  ask /v1/datasets/61 -> 200
`;

describe("a read that runs while a write comes", () => {
  for (const write of ["tag 61", "old tag 61"])
    script(`does not bring the old value back after "${write}"`)`
      legacy holds 1
      reading: ask /v1/datasets/61
      legacy got 1
      write alice ${write} -> 200
      # These wait for the old read, and then ask once more, together.
      later: ask 2 times /v1/datasets/61
      2 wait
      legacy answers
      reading -> 200 nobody 1
      later -> 1 x 200 nobody 2 fwd=uri-miss stored, 1 x 200 nobody 2 fwd=uri-miss collapsed
      ask /v1/datasets/61 -> 200 nobody 2 hit
    `;

  script("is stored, and shared with all who wait, if the write was to another record")`
    legacy holds 1
    reading: ask /v1/datasets/62
    legacy got 1
    write alice tag 61 -> 200
    later: ask 29 times /v1/datasets/62
    29 wait
    write alice tag setup 3 -> 200
    legacy answers
    reading -> 200 nobody 1 fwd=uri-miss stored
    later -> 200 nobody 1 fwd=uri-miss collapsed
    ask /v1/datasets/62 -> 200 nobody 1 hit
  `;
});

describe("a write whose answer is lost", () => {
  script("leaves what it may have changed for outages, and for half a minute no answer is stored")`
    ask /v1/datasets/61
    ask alice /v1/datasets/abc
    legacy is down
    write alice tag 61 -> 502
    legacy is well
    ask /v1/datasets/61 -> 200 nobody 1 fwd=stale
    ask /v1/datasets/61 -> 200 nobody 1 fwd=stale
    ask /v1/datasets/62 -> 200 fwd=uri-miss stored
    legacy is down
    ask /v1/datasets/61 -> 200 fwd=stale stale-if-error
    legacy is well
    pass 30 s
    ask /v1/datasets/61 -> 200 fwd=stale stored
  `;

  for (const [title, proof, count] of [
    ["that legacy has just accepted", "ask alice /v1/datasets/abc", 2],
    ["that legacy is asked about then", "", 1],
  ])
    script(`because its client leaves counts with a key ${title}`)`
      ask /v1/datasets/61
      ${proof}
      legacy got ${count}
      legacy holds 1
      write: write alice old tag 61
      legacy got 1
      write leaves
      legacy answers
      ask /v1/datasets/61 -> 200 nobody 2 fwd=stale
      ask /v1/datasets/61 -> 200 nobody 2 fwd=stale
    `;
});
