import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Message, MessageReader } from "./lib/messageReader.ts";

const read = (pieces: Buffer[], hasNoBody = () => false) => {
  const messages: Message[] = [];
  const broken: string[] = [];
  const reader = new MessageReader({
    hasNoBody,
    withoutLength: "close",
    onMessage: (message) => messages.push(message),
    onBroken: (why) => broken.push(why),
  });
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return { messages: messages.map(({ body, ...rest }) => ({ ...rest, body: body.toString() })), broken };
};

const lengths = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=1\r\nllo\r\n0\r\nX-T: 1\r\n\r\n";
const interim = "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 204 None\r\nContent-Length: 0\r\n\r\n";

describe("reading messages", () => {
  test("gives the same messages, however the bytes are cut", () => {
    const bytes = Buffer.from(lengths + chunks + interim + lengths);
    const whole = read([bytes]);
    expect(whole.messages.map(({ body, interim: count }) => [body, count])).toEqual([
      ["hello", 0],
      ["hello", 0],
      ["", 1],
      ["hello", 0],
    ]);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 30 }), (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(read(pieces)).toEqual(whole);
      }),
    );
  });

  test.each([
    ["in a body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", "hello"],
    ["in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello", "hello"],
    ["before the last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", "hello"],
    ["in a head", "HTTP/1.1 200 O", ""],
  ])("an end %s is no whole message", (_, bytes, body) => {
    expect(read([Buffer.from(bytes)]).messages).toMatchObject([{ whole: false, body }]);
  });

  test("without a length, the end of the connection ends the message", () => {
    expect(read([Buffer.from("HTTP/1.1 200 OK\r\n\r\nhello")]).messages).toMatchObject([
      { whole: true, body: "hello" },
    ]);
  });

  test.each([
    "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    "Content-Length: x\r\n\r\n",
    "Transfer-Encoding: gzip\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "Transfer-Encoding: chunked\r\n\r\n2\r\nabXX0\r\n\r\n",
  ])("%j is broken", (rest) => {
    expect(read([Buffer.from(`HTTP/1.1 200 OK\r\n${rest}`)]).broken).toHaveLength(1);
  });
});
