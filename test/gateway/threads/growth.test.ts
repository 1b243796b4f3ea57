import { expect, test } from "vitest";
import { proxiedWrite } from "../../../src/gateway/answer/proxiedWrites.ts";
import { readLegacy } from "../../../src/catalogue/legacy/reading.ts";
import { xmlReader } from "../../../src/catalogue/legacy/xml.ts";
import { commaSeparated, urlList } from "../../../src/catalogue/rules/commaSeparated.ts";
import { servingNote } from "../../../src/catalogue/rules/notes.ts";
import type { Rule } from "../../../src/catalogue/rules/rule.ts";
import { number, timestamp } from "../../../src/catalogue/rules/values.ts";
import { catalogue } from "../../../transforms/catalogue.ts";

const note = servingNote(() => undefined);
const readXml = xmlReader(["study.description"], ["data.dataset.name"]);
const read = (body: string) => readLegacy(Buffer.from(body), readXml);
const within = (before: string, text: string, after: string) => (length: number) =>
  read(before + text.repeat(length / text.length) + after);
const rule = (tried: Rule, make: (length: number) => string) => (length: number) => {
  tried.schema.safeParse(tried.read(make(length), note, {}));
};
const write = (text: string) => (length: number) => {
  const written = proxiedWrite(catalogue.legacyWrites, "POST", {
    path: "/api/v1/json/data/tag",
    segments: ["json", "data", "tag"],
    query: "",
  });
  written?.chunk(Buffer.from(text.repeat(Math.min(65_536, length) / text.length)));
  written?.key(undefined);
  written?.touched();
};

/** Milliseconds of this thread's CPU, the least of three. */
const timeOf = (work: () => unknown): number =>
  Math.min(
    ...[1, 2, 3].map(() => {
      const before = process.threadCpuUsage();
      work();
      const { user, system } = process.threadCpuUsage(before);
      return (user + system) / 1000;
    }),
  );

test.each<[string, (length: number) => unknown]>([
  ["digits and a letter for a number", rule(number, (length) => `${"1".repeat(length)}x`)],
  ["digits around a dot and an e", rule(number, (length) => `1.${"1".repeat(length)}e${"1".repeat(length)}x`)],
  ["blanks around a number", rule(number, (length) => `${" ".repeat(length)}1${" ".repeat(length)}x`)],
  ["a timestamp with a tail", rule(timestamp, (length) => `2021-04-04T04:04:04${"x".repeat(length)} `)],
  ["quotes around entries", rule(commaSeparated, (length) => `x${"' ".repeat(length / 2)}x`)],
  ["commas before what may be a URL", rule(urlList, (length) => `,a+${", '".repeat(length / 3)}`)],
  ["attributes", (length) => read(`<oml:a ${Array.from({ length: length / 8 }, (_, i) => `a${i}="1"`).join(" ")}/>`)],
  ["elements of one name", within("<oml:a>", "<b>1</b>", "</oml:a>")],
  ["text between elements", within("<oml:a>", "t<b/>", "</oml:a>")],
  ["open elements", within("<oml:a>", "<b>", "")],
  ["unfinished elements", within("<oml:a>", "<b ", "")],
  ["instructions", within("<oml:a>", "<?x y?>", "</oml:a>")],
  ["entities", within("<oml:a>", "&#65;", "</oml:a>")],
  ["markup within a text", within("<oml:study><oml:description>", "<b/>", "</oml:description></oml:study>")],
  ["names", within("<oml:data>", "<oml:dataset><oml:name>a</oml:name></oml:dataset>", "</oml:data>")],
  ["entities of an error", within('{"error":{"code":"1","message":"', "&am;&#x", '"}}')],
  ["fields of a form that passes through", write("data_id=1&")],
  ["parts of a form that passes through", write('name="data_id"\r\nx\r\n')],
])("%s take time in proportion to their length", (_, work) => {
  const length = 10_000;
  timeOf(() => work(length));
  const [short, long] = [length, 8 * length].map((size) => timeOf(() => work(size))) as [number, number];
  // Eight times the length: quadratic time would be sixty-four times as much. Two milliseconds count as zero.
  expect((long + 2) / (short + 2)).toBeLessThan(30);
});
