import { expect, test } from "vitest";
import { merged, without } from "../../../../src/features/privateDatasets/store/change.ts";
import { follow, type Message, messageFrom } from "../../../../src/features/privateDatasets/store/redisMessage.ts";
import { row, walked } from "./rows.ts";

test("of two changes the newer is right, whatever it says of a row", () => {
  const older = { rows: [row(1), row(2, "old"), row(3)], gone: [4, 5], walk: walked(10) };
  const newer = { rows: [row(2, "new"), row(4)], gone: [3] };
  expect(merged(older, newer)).toEqual({
    rows: [row(1), row(2, "new"), row(4)],
    gone: [5, 3],
    walk: walked(10),
  });
  expect(merged(older, { ...newer, walk: walked(9) }).walk).toEqual(walked(9));
});

test("what was read does not show where something newer waits", () => {
  const read = { rows: [row(1), row(2), row(3)], gone: [4, 5], walk: walked(10) };
  expect(without(read, { rows: [row(2), row(4)], gone: [3] })).toEqual({ rows: [row(1)], gone: [5], walk: walked(10) });
  expect(without(read, { rows: [], gone: [], walk: walked(11) })).toEqual({ ...read, walk: undefined });
});

const message = (before: string, after: string, ids: number[] = [], by = "another", walk = false): Message => [
  before,
  after,
  { by, ids, walk },
];

test.each<[string, (Message | undefined)[], ReturnType<typeof follow>]>([
  ["nothing was heard", [], { version: "5.a", ids: [], walk: false, isMissed: false }],
  [
    "one follows the other",
    [message("5.a", "6.b", [1, 2]), message("6.b", "7.c", [2, 3], "another", true)],
    { version: "7.c", ids: [1, 2, 3], walk: true, isMissed: false },
  ],
  [
    "one is its own",
    [message("5.a", "6.b", [1], "self", true), message("6.b", "7.c", [3])],
    { version: "7.c", ids: [3], walk: false, isMissed: false },
  ],
  ["it is known already", [message("3.x", "4.y", [1])], { version: "5.a", ids: [], walk: false, isMissed: false }],
  ["one is missing", [message("6.b", "7.c", [3])], { version: "5.a", ids: [], walk: false, isMissed: true }],
  ["all of it was written anew", [message("", "6.b", [])], { version: "5.a", ids: [], walk: false, isMissed: true }],
  ["it is none of ours", [undefined], { version: "5.a", ids: [], walk: false, isMissed: true }],
])("of messages, where %s", (_, messages, news) => {
  expect(follow("5.a", messages, "self")).toEqual(news);
});

test("who knows nothing follows no message", () => {
  expect(follow("", [message("", "1.a", [])], "self").isMissed).toBe(true);
});

test.each([
  ["", false],
  ["free", false],
  ['["1.a","2.b"]', false],
  ['["1.a","2.b",{"by":"x","ids":["1"],"walk":true}]', false],
  ['["1.a","2.b",{"by":"x","ids":[1],"walk":true,"more":1}]', false],
  ['["1.a","2.b",{"by":"x","ids":[1],"walk":true}]', true],
])("of messages, %j is readable: %j", (text, isReadable) => {
  expect(messageFrom(text)).toEqual(isReadable ? JSON.parse(text) : undefined);
});
