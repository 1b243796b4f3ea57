// A legacy interface of any size, which counts its requests. All datasets up to a million exist, and are as different
// as real datasets are; above a million, every second dataset exists.
import { createServer } from "node:http";
import { datasetBody } from "../bodies.ts";
import { pseudoRandom } from "../pseudoRandom.ts";

const unknown = '{"error":{"code":"111","message":"Unknown dataset"}}';
const { data_set_description: dataset } = JSON.parse(datasetBody());

const random = pseudoRandom(1);
const pick = (list) => list[Math.floor(random() * list.length)];
const syllables = Array.from(
  { length: 60 },
  () => pick("bcdfghklmnprstvz") + pick("aeiou") + pick(["", "n", "r", "s"]),
);
const words = Array.from({ length: 20_000 }, () => pick(syllables) + pick(syllables) + pick(["", pick(syllables)]));
const text = words.join(" ");

const datasetOf = (id) => {
  const from = (id * 7919) % (text.length - 2000);
  const description = text.slice(from, from + 2000);
  return JSON.stringify({ data_set_description: { ...dataset, id: String(id), description } });
};
const answerTo = (url) => {
  const id = Number(/\d+$/.exec(url)?.[0]);
  return id > 1_000_000 && id % 2 === 0 ? [412, unknown] : [200, datasetOf(id)];
};

let asked = 0;
const server = createServer((request, response) => {
  if (request.url === "/asked") return response.end(String(asked));
  asked++;
  const [status, body] = answerTo(request.url);
  return response
    .writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) })
    .end(body);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
