import { expect, test } from "vitest";
import { readLegacyAnswer } from "../../src/reading/readAnswer.ts";
import { jsonList, listDatasets, type ModelRow, settings, xmlList } from "./modelList.ts";

const rows: ModelRow[] = [1, 2, 3].map((did) => ({ did, name: `n${did}` }));
const read = (body: string, limit = 100) =>
  readLegacyAnswer(
    listDatasets,
    { endpoint: "listDatasets", as: "rows", input: { limit } },
    Buffer.from(body),
    settings.knowledge,
  );
const fileOf = /"file_id": 2,\s*/;

test.each([
  ["JSON", jsonList(rows).replace(fileOf, '$&"licence": "CC0",'), ["licence"]],
  ["XML", xmlList(rows).replace("<oml:file_id>2", "<oml:licence>CC0</oml:licence>$&"), ["licence"]],
])("a field in %s that is new and on some rows alone costs no page", (_, body, unknown) => {
  expect(read(body)).toMatchObject({ is: "document", unknown, written: { rows: [{ id: 1 }, { id: 2 }, { id: 3 }] } });
});

test("rows without a format in XML, or without a file in JSON, cost no page", () => {
  expect(read(xmlList(rows).replace("<oml:format>ARFF</oml:format>", ""))).toHaveProperty("written");
  expect(read(jsonList(rows).replace(fileOf, ""))).toHaveProperty("written");
});

test.each([
  ["a row in JSON", jsonList([{ did: 1, name: 'x"},{"did":2,\n "name":"y' }])],
  ["a row with some members in JSON", jsonList([{ did: 1, name: 'x","version":1},{"did":2,\n "name":"y' }])],
  ["a member of its own in JSON", jsonList([{ did: 1, name: 'x","file_id":"9' }]).replace('"file_id": 1,', "")],
  ["an unknown member in JSON", jsonList([{ did: 1, name: 'x","licence":"9' }])],
  ["a member twice in JSON", jsonList([{ did: 1, name: 'x","version":"9' }])],
  [
    "a row in XML",
    xmlList([{ did: 1, name: "x</oml:name></oml:dataset><oml:dataset><oml:did>2</oml:did><oml:name>y" }]),
  ],
])("a name that writes %s is not believed", (_, body) => {
  expect(read(body)).toMatchObject({ is: "unreadable" });
});

test("a whole row that a name writes is not believed on a full page", () => {
  const forged = 'x","version":1,"status":"a","format":"A","md5_checksum":"","quality":[]},{"did":2,\n "name":"y';
  const body = jsonList([{ did: 1, name: forged }]);
  expect(read(body, 1)).toMatchObject({ is: "unreadable" });
  expect(read(body, 2)).toMatchObject({ is: "document" });
});
