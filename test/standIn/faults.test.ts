import { describe, expect, test } from "vitest";
import type { Fault } from "./program/fault.ts";
import { changedFields } from "./changedFields.ts";
import { type SentRequest, sidesFor } from "./support.ts";

const iris = { endpoint: "getDataset", method: "GET", path: "/datasets/61" } as const;
const none = { endpoint: "getDataset", method: "GET", path: "/datasets/1000000" } as const;
const list: SentRequest = {
  endpoint: "listDatasets",
  method: "POST",
  path: "/datasets/list",
  body: { data_id: [61, 187] },
};

describe("a fault has the effect of its name", () => {
  test.each<[Omit<Fault, "endpoint">, string[]]>([
    [{ fault: "wrongType", path: "/version" }, ['/version "1"']],
    [{ fault: "wrongType", path: "/name" }, ["/name 987654321"]],
    [{ fault: "wrongType", path: "/creator" }, ['/creator "R.A. Fisher"']],
    [{ fault: "missingField", path: "/licence" }, ["/licence undefined"]],
    [{ fault: "extraField", path: "/row_version" }, ["/row_version 1000003"]],
    [{ fault: "emptyForNull", path: "/citation" }, ['/citation ""']],
    [{ fault: "otherValue", path: "/id" }, ["/id 1000064"]],
    [{ fault: "otherValue", path: "/tag/*" }, ['/tag ["flowers (other)","study_10 (other)"]']],
    [{ fault: "otherValue", path: "/tag/1" }, ['/tag ["flowers","study_10 (other)"]']],
    [{ fault: "reorderedList", path: "/tag" }, ['/tag ["study_10","flowers"]']],
    [{ fault: "lostEntry", path: "/tag" }, ['/tag ["flowers"]']],
    [{ fault: "emptyForNull", path: "/name" }, []],
    [{ fault: "missingField", path: "/nothing" }, []],
    [{ fault: "problemJson" }, []],
  ])("%o", async (fault, changes) => {
    const { expected, given, standIn } = await sidesFor([{ endpoint: "getDataset", ...fault }]);
    const [right, wrong] = [await expected(iris), await given(iris)];
    expect({ ...wrong, body: undefined }).toEqual({ ...right, body: undefined });
    expect(changedFields(right.body, wrong.body)).toEqual(changes);
    expect(standIn.planted().length).toBe(changes.length);
  });

  test("by itself it picks the same place at every asking", async () => {
    const { given, standIn } = await sidesFor([{ endpoint: "*", fault: "wrongType" }]);
    const answers = [await given(iris), await given(iris)];
    expect(answers[0]).toEqual(answers[1]);
    expect(standIn.planted()).toEqual([expect.objectContaining({ questions: 1, answers: 2 })]);
  });

  test.each<[Omit<Fault, "endpoint">, number, number]>([
    [{ fault: "otherStatus" }, 404, 410],
    [{ fault: "otherStatus", status: 500 }, 500, 500],
    [{ fault: "otherStatus", status: 404 }, 404, 404],
  ])("%o", async (fault, known, unknown) => {
    const { given } = await sidesFor([{ endpoint: "getDataset", ...fault }]);
    expect([(await given(iris)).status, (await given(none)).status]).toEqual([known, unknown]);
  });

  test("problemJson", async () => {
    const { given } = await sidesFor([{ endpoint: "*", fault: "problemJson" }]);
    expect(await given(none)).toEqual({
      status: 404,
      contentType: "application/problem+json",
      body: { type: "about:blank", title: "Error", status: 404, detail: "Unknown dataset" },
    });
  });

  test("an order without meaning is allowed; errors are changed only by an explicit path", async () => {
    const { given, standIn } = await sidesFor([
      { endpoint: "getDataset", fault: "reorderedList", path: "/tag" },
      { endpoint: "getDataset", fault: "wrongType", path: "/detail/code" },
      { endpoint: "getDataset", fault: "missingField" },
    ]);
    await given(iris);
    expect((await given(none)).body).toEqual({ detail: { code: 111, message: "Unknown dataset" } });
    const planted = standIn.planted().map((one) => ("path" in one ? [one.faults[0], one.path, one.form, one.as] : []));
    expect(planted.filter(([fault]) => fault !== "missingField")).toEqual([
      ["reorderedList", "/tag", "order", "allowed"],
      ["wrongType", "/detail/code", "type", "difference"],
    ]);
    expect(planted.length).toBe(3);
  });

  test("of two faults at one place the first counts", async () => {
    const { given, standIn } = await sidesFor([
      { endpoint: "*", fault: "lostEntry", path: "" },
      { endpoint: "*", fault: "otherValue", path: "/*/name" },
    ]);
    expect((await given(list)).body).toEqual([expect.objectContaining({ did: 61, name: "iris" })]);
    expect(standIn.planted()).toEqual([
      {
        endpoint: "listDatasets",
        faults: ["lostEntry"],
        path: "/*",
        form: "missing",
        as: "difference",
        questions: 1,
        answers: 1,
      },
    ]);
  });
});

test("drift: only at the first of equal requests, for each request separately", async () => {
  const { judged, standIn } = await sidesFor([{ endpoint: "*", fault: "otherValue", path: "/version", again: false }]);
  const found = [await judged(iris), await judged(iris), await judged({ ...iris, path: "/datasets/31" })];
  expect(found.map((one) => one.length)).toEqual([1, 0, 1]);
  expect(standIn.planted()).toEqual([expect.objectContaining({ as: "drift", questions: 2, answers: 2 })]);
});

test("a share is of the questions, and always of the same ones", async () => {
  const { judged, standIn } = await sidesFor();
  const ids = Array.from({ length: 34 }, (_, i) => i + 1).filter((id) => ![14, 16, 17, 21, 26].includes(id));
  const wrong = async (fault: Fault): Promise<number[]> => {
    standIn.use([fault]);
    const found = [];
    for (const id of ids) if ((await judged({ ...iris, path: `/datasets/${id}` })).length > 0) found.push(id);
    return found;
  };
  const fault = { endpoint: "getDataset", fault: "otherValue", path: "/version" } as const;
  const [once, again, other, nobody] = [
    await wrong({ ...fault, share: 40 }),
    await wrong({ ...fault, share: 40 }),
    await wrong({ ...fault, path: "/id", share: 40 }),
    await wrong({ ...fault, share: 0 }),
  ];
  expect(again).toEqual(once);
  expect(other).not.toEqual(once);
  expect(nobody).toEqual([]);
  expect(once.length).toBeGreaterThan(4);
  expect(once.length).toBeLessThan(20);
});

test("a fault that cannot be meant is refused", async () => {
  const { standIn } = await sidesFor();
  expect(() => standIn.use([{ endpoint: "getDatasets", fault: "late" }])).toThrow("getDatasets: no such endpoint");
  expect(() => standIn.use([{ endpoint: "*", fault: "tired" as "late" }])).toThrow("Invalid option");
});
