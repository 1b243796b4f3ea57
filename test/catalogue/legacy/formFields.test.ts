import fc from "fast-check";
import { expect, test } from "vitest";
import { fieldReader, MAX_FIELDS } from "../../../src/catalogue/legacy/formFields.ts";

const { inForm, inParts, inXml } = fieldReader(["data_id", "did"]);
const found = (values: { name: string; value: string }[]) => values.map(({ name, value }) => `${name}=${value}`);

test.each([
  ["data_id=61&tag=a", ["data_id=61"]],
  ["tag=a&data_id=61&data_id=62", ["data_id=61", "data_id=62"]],
  ["data.id=1&data+id=2&data[id=3&data_id[]=4&data_id%00x=5&%64ata_id=6&+data_id=7", "1234567"],
  ["my_data_id=1&data_ids=2&xdid=3", []],
  ["did", ["did="]],
  ["", []],
])("fields are found in the form %s", (form, expected) => {
  const { values, isWhole } = inForm(form);
  expect(isWhole).toBe(true);
  expect(found(values)).toEqual(
    typeof expected === "string" ? expected.split("").map((digit) => `data_id=${digit}`) : expected,
  );
});

test.each(['"data_id"', "data_id", "'data_id'", '" data.id"', '"data_id[]"'])(
  "a field is found in a multipart form's part named %s",
  (name) => {
    const part = `--x\r\nContent-Disposition: form-data; name=${name}\r\nContent-Type: text/plain\r\n\r\n61\r\n--x--`;
    expect(found(inParts(part).values)).toEqual(["data_id=61"]);
    expect(found(inParts(part.replace("data_id", "my_data_id").replace("data.id", "my_data_id")).values)).toEqual([]);
  },
);

test("fields are found in elements of XML, with any prefix", () => {
  expect(found(inXml("<a><oml:did>61</oml:did><did> 62 </did><dids>63</dids></a>").values)).toEqual([
    "did=61",
    "did= 62 ",
  ]);
});

test("a form with too many fields, or a name behind many blanks, is not read whole", () => {
  const many = (field: string) => field.repeat(MAX_FIELDS + 1);
  expect(inForm(many("a&"))).toEqual({ values: [], isWhole: false });
  expect(inForm("a&".repeat(MAX_FIELDS))).toEqual({ values: [], isWhole: true });
  expect(inForm(`${"+".repeat(5000)}data_id=61`).isWhole).toBe(false);
  expect(inParts(many("name=did\r\n\r\n1\r\n"))).toMatchObject({ isWhole: false });
  expect(inParts(many("name=did\r\n\r\n1\r\n")).values).toHaveLength(MAX_FIELDS);
  expect(inXml(many("<did>1<")).isWhole).toBe(false);
});

test("every field that URLSearchParams writes is found", () => {
  const name = fc.constantFrom("data_id", "did", "tag", "data.id", "x");
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.string({ maxLength: 20 })), { maxLength: 30 }), (fields) => {
      const form = new URLSearchParams(fields.map(([key, value]) => [key, value])).toString();
      const wanted = fields.filter(([key]) => key === "did" || key.startsWith("data"));
      expect(inForm(form).values.map(({ name: key }) => key)).toEqual(wanted.map(([key]) => key.replace(".", "_")));
    }),
  );
});
