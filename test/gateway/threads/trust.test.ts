import fc from "fast-check";
import { expect, test } from "vitest";
import { readableOf, readLegacyAnswer } from "../../../src/catalogue/reading/readAnswer.ts";
import { listRuns } from "../../../transforms/listRuns.ts";
import { listStudies } from "../../../transforms/listStudies.ts";
import { casesOf } from "../../support/cases.ts";

const runs = readableOf("listRuns", listRuns);
const studies = readableOf("listStudies", listStudies);

type Run = { id: number; message: string; details?: string };

/** Legacy's templates of the list of runs, neither of which escapes the messages and details. */
const jsonRuns = (rows: readonly Run[]): string =>
  `{"runs":{"run":[\n${rows
    .map(
      ({ id, message, details = "" }) =>
        `    {"run_id":${id},\n   "task_id":1,\n   "setup_id":3,\n   "flow_id":4,\n   "uploader":1,\n   "upload_time":"2021-01-01 10:00:00",\n   "error_message":"${message}",\n   "run_details":"${details}"\n  }\n`,
    )
    .join(",")}    ]}\n}\n`;
const xmlRuns = (rows: readonly Run[]): string =>
  `<oml:runs xmlns:oml="http://openml.org/openml">\n${rows
    .map(
      ({ id, message, details = "" }) =>
        `  <oml:run>\n <oml:run_id>${id}</oml:run_id>\n <oml:task_id>1</oml:task_id>\n <oml:task_type_id>1</oml:task_type_id>\n <oml:setup_id>3</oml:setup_id>\n <oml:flow_id>4</oml:flow_id>\n <oml:uploader>1</oml:uploader>\n <oml:upload_time>2021-01-01 10:00:00</oml:upload_time>\n <oml:error_message>${message}</oml:error_message>\n <oml:run_details>${details}</oml:run_details>\n </oml:run>\n`,
    )
    .join("")}</oml:runs>\n`;
const xmlStudies = (names: readonly string[]): string =>
  `<oml:study_list xmlns:oml="http://openml.org/openml">\n${names
    .map(
      (name, i) =>
        `<oml:study><oml:id>${i + 1}</oml:id><oml:main_entity_type>task</oml:main_entity_type><oml:name>${name}</oml:name><oml:status>active</oml:status><oml:creation_date>2021-01-01 10:00:00</oml:creation_date><oml:creator>1</oml:creator></oml:study>`,
    )
    .join("")}</oml:study_list>`;

const read = (endpoint: typeof runs, body: string, limit = 100) =>
  readLegacyAnswer(endpoint, { endpoint: endpoint.name, as: "answer", input: { limit } }, Buffer.from(body));

/** Our document, or `undefined` where it is a 502. */
const documentOf = (endpoint: typeof runs, body: string, limit?: number): unknown => {
  const result = read(endpoint, body, limit);
  return "written" in result ? JSON.parse(result.written.answer.body.toString()) : undefined;
};
/** The rows as the gateway reads them: from JSON, else from XML. */
const runsOf = (rows: readonly Run[]): unknown => documentOf(runs, jsonRuns(rows)) ?? documentOf(runs, xmlRuns(rows));

const ours = ({ id, message, details = "" }: Run) => ({
  run_id: id,
  task_id: 1,
  setup_id: 3,
  flow_id: 4,
  uploader: 1,
  upload_time: "2021-01-01T10:00:00",
  error_message: message || null,
  run_details: details || null,
});

test("messages with quotes and signs are read out of the XML as they are", () => {
  const rows = ['say "hi"', "R&D < 1", "Lab boom & <crash>", "", "&amp;"].map((message, i) => ({ id: i + 1, message }));
  expect(runsOf(rows)).toEqual(rows.map(ours));
  expect(runsOf([{ id: 1, message: "a \\ b", details: '{"a":1}' }])).toMatchObject([{ error_message: "a \\ b" }]);
});

test.each([
  ["a row with some members", 'x"},{"run_id":2,"task_id":1,"error_message":"y'],
  ["a member before the next", 'x","uploader":"9'],
  ["an unknown member", 'x","licence":"9'],
  ["its own members twice", 'x","run_details":"y","error_message":"z'],
])("a message that writes %s in JSON is not believed", (_, message) => {
  expect(documentOf(runs, jsonRuns([{ id: 1, message }]))).toBeUndefined();
});

test.each(['x","licence":"9', 'x","visibility":{"a":1},"z":"', 'x","task_type_id":"9'])(
  "details that write a member in JSON are not believed: %s",
  (details) => {
    const rows = [
      { id: 1, message: "", details },
      { id: 2, message: "" },
    ];
    expect(documentOf(runs, jsonRuns(rows))).toBeUndefined();
    expect(runsOf(rows)).toEqual(rows.map(ours));
  },
);

test.each([
  ["a row with some members", "x</oml:error_message></oml:run><oml:run><oml:run_id>2</oml:run_id><oml:error_message>y"],
  ["an element that its row has", "x</oml:error_message><oml:uploader>9</oml:uploader><oml:error_message>y"],
])("a message that writes %s in XML makes the page a 502", (_, message) => {
  expect(runsOf([{ id: 1, message: `"${message}` }])).toBeUndefined();
});

test("a whole row that a message writes is not believed on a full page", () => {
  const forged = `x","run_details":""},{"run_id":2,"task_id":1,"setup_id":3,"flow_id":4,"uploader":1,"upload_time":"2021-01-01 10:00:00","error_message":"y`;
  const body = jsonRuns([{ id: 1, message: forged }]);
  expect([documentOf(runs, body, 1), documentOf(runs, body, 2)]).toEqual([undefined, expect.anything()]);
});

test("a study's name is read as it is, and none with legacy's elements makes a row", () => {
  expect(documentOf(studies, xmlStudies(["R&D", 'x","status":"active', "a < b"]))).toMatchObject([
    { name: "R&D" },
    { name: 'x","status":"active' },
    { name: "a < b" },
  ]);
  for (const name of [
    "x</oml:name></oml:study><oml:study><oml:id>9</oml:id><oml:name>y",
    "x</oml:name><oml:status>active</oml:status><oml:name>y",
  ])
    expect(documentOf(studies, xmlStudies(["a", name]))).toBeUndefined();
});

const fragment = fc.oneof(
  fc.constantFrom("a", " ", "é", '"', "&", "&amp;", "<", "<b>", "\\", "]]>", "<!-- c -->", "\n"),
  fc.constantFrom(
    '","run_details":"',
    '"},{"run_id":2,"error_message":"',
    "</oml:error_message>",
    "<oml:run_id>4</oml:run_id>",
  ),
  fc.constantFrom("</oml:run><oml:run>", '","more":"9', "</oml:run_details>", "<oml:error_message>"),
);
const texts = fc.array(
  fc.array(fragment, { maxLength: 4 }).map((parts) => parts.join("")),
  { minLength: 1, maxLength: 8 },
);

test("whatever messages hold, the page is exact or a 502", () => {
  let exact = 0;
  fc.assert(
    fc.property(texts, (messages) => {
      const rows = messages.map((message, i) => ({ id: i + 1, message }));
      const found = runsOf(rows);
      if (found === undefined) return;
      exact++;
      // Blanks around a text are legacy's.
      const trimmed = (list: unknown) =>
        JSON.parse(JSON.stringify(list), (_, one: unknown) =>
          typeof one === "string" ? one.trim() || null : one,
        ) as unknown;
      expect(trimmed(found)).toEqual(trimmed(rows.map(ours)));
    }),
    { numRuns: casesOf(500) },
  );
  expect(exact).toBeGreaterThan(0);
});
