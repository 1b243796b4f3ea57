import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { legacyTargets } from "../../../src/catalogue/legacy/legacyTarget.ts";
import { ask } from "../../../src/gateway/upstream/ask.ts";
import { UpstreamFailure } from "../../../src/gateway/upstream/failure.ts";
import { legacyJudge } from "../../../src/gateway/upstream/legacyJudge.ts";
import { openUpstream, type UpstreamHealth } from "../../../src/gateway/upstream/upstream.ts";
import { legacyPaths } from "../../../transforms/legacyInterface.ts";
import { get, openProxy, rawUpstream, send } from "../proxy/support.ts";

const path = "/api/v1/json/data/61";
const judge = legacyJudge(legacyTargets("/api/v1", legacyPaths));

/** A health that notes what each request came to. */
const openNotes = () => {
  const notes: unknown[] = [];
  const health: UpstreamHealth = {
    answered: (_, judgement) => void notes.push(judgement ?? "nothing"),
    failed: (_, { kind }) => void notes.push(kind),
  };
  return { notes, health };
};

const noDatabase = '{"error":{"code":"107","message":"Database connection error."}}';
const json = "Content-Type: application/json\r\n";
const answerOf = (status: number, headers: string, body: string | Buffer): Buffer => {
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} X\r\n${headers}${length}\r\n`), Buffer.from(body)]);
};

test.each<[what: string, answer: Buffer, ofFetch: unknown, ofProxied?: unknown]>([
  ["a document", answerOf(200, json, '{"data_set_description":{}}'), "own"],
  ["an error of legacy's", answerOf(412, json, '{"error":{"code":"372"}}'), "own"],
  ["legacy without a database", answerOf(412, json, noDatabase), "ill"],
  ["a front's page", answerOf(502, "Content-Type: text/html\r\n", "<html>Bad Gateway</html>"), "ill"],
  ["an empty 500", answerOf(500, "", ""), "failed"],
  ["a refusal", answerOf(403, "Content-Type: text/html\r\n", "<html>Forbidden</html>"), "refused"],
  ["a body that is cut", answerOf(200, json, '{"a":1}').subarray(0, -2), "broken"],
  ["a coded 107", answerOf(412, `${json}Content-Encoding: gzip\r\n`, gzipSync(noDatabase)), "broken", "ill"],
  ["a coded page", answerOf(200, "Content-Encoding: gzip\r\n", gzipSync("<html></html>")), "broken", "ill"],
  ["a coded document", answerOf(200, `${json}Content-Encoding: gzip\r\n`, gzipSync("<html></html>")), "broken", "own"],
  [
    "a page of two codings",
    answerOf(200, "Content-Encoding: gzip\r\nContent-Encoding: br\r\n", gzipSync("<html></html>")),
    "broken",
    "nothing",
  ],
])("%s is judged once, for a fetch and a proxied request alike", async (_, answer, ofFetch, ofProxied = ofFetch) => {
  const legacy = await rawUpstream((socket) => socket.end(answer));
  const { notes, health } = openNotes();
  const times = { connectTimeout: 2000, headersTimeout: 8000, bodyTimeout: 8000 };
  const upstream = openUpstream({ origin: legacy.origin, connections: 1, ...times, health, judge });
  onTestFinished(() => upstream.pool.destroy());
  const judged = await ask(upstream, { method: "GET", path, headers: {}, maxBytes: 1000, totalTimeout: 60_000 }).then(
    (reply) => reply.judgement,
    (error: unknown) => (error instanceof UpstreamFailure ? error.kind : error),
  );
  expect([judged, notes]).toEqual([ofFetch, [ofFetch]]);
  notes.length = 0;
  const proxy = await openProxy(legacy.origin, { health, judge });
  await send(proxy.port, get(path));
  expect(notes).toEqual([ofProxied]);
});
