import { expect, onTestFinished, test } from "vitest";
import { httpUpstream } from "../gateway/proxy/support.ts";
import { keys, openCatalogue, type Revision } from "./fuzz/oldClients/catalogue.ts";
import { type Bounds, judgeOldRead, type OldRead } from "./fuzz/oldClients/oracle.ts";
import { openOldClients } from "./fuzz/oldClients/run.ts";

type Given = {
  /** A change of dataset 1 after the answer was made. */
  change?: Partial<Revision>;
  read?: Partial<OldRead>;
  /** The target that legacy is asked for. */
  target?: string;
  headers?: Record<string, string>;
  status?: number;
  body?: string;
  bounds?: Partial<Bounds>;
};

/** The judgement of legacy's answer about dataset 1, or of the list, changed as given; the read is a second later. */
const judged = ({ change, read, target, headers, bounds, ...given }: Given) => {
  const catalogue = openCatalogue();
  const id = read && "id" in read ? read.id : 1;
  const { answer } = catalogue.answer("GET", target ?? `/api/v1/json/data/${id ?? "list"}`, "");
  const { at } = Object.assign(change ? catalogue.change(1, {}) : { at: performance.now() }, change);
  const asked: OldRead = {
    id,
    form: "json",
    who: undefined,
    mayBeShownMore: false,
    gateway: 1,
    sentAt: at + 1000,
    answeredAt: at + 1000,
    ...read,
  };
  const { status = answer.status, body = answer.body } = given;
  return judgeOldRead(
    catalogue,
    asked,
    { status, headers: { "content-type": answer.type, ...headers }, body: Buffer.from(body), ms: 0 },
    { isOut: false, maxAge: 2000, lag: 0, ...bounds },
  );
};

const cached = { "cache-status": "hit" };
const keyed = { who: "ann", mayBeShownMore: true } as const;
const list = { id: undefined };
const written = { answeredAt: 0 };
const tagged = { ...written, isSoft: true };
/** A write that another gateway answered just now. */
const elsewhere = { answeredAt: performance.now(), answeredBy: 2 };

test.each<[what: string, given: Given, judgement: RegExp]>([
  ["legacy's answer", {}, /^right$/],
  ["a cached answer", { headers: cached }, /^right$/],
  ["a cached answer from before a write", { headers: cached, change: written }, /: older than a write/],
  ["the same, though it claims to come from legacy", { change: written }, /passed: legacy would answer otherwise/],
  ["a change within the lifetime", { headers: cached, change: {} }, /^right$/],
  ["one beyond it", { headers: cached, change: {}, bounds: { maxAge: 999 } }, /: 1000 ms too old, of 999$/],
  ["a write of another gateway", { headers: cached, change: elsewhere, bounds: { lag: 2000 } }, /^right$/],
  ["one that is long ago", { headers: cached, change: elsewhere }, /: older than a write/],
  [
    "a list that lacks a tag in an outage",
    { read: list, headers: cached, change: tagged, bounds: { isOut: true } },
    /^right$/,
  ],
  [
    "another write that it lacks",
    { read: list, headers: cached, change: written, bounds: { isOut: true } },
    /: older than a write/,
  ],
  ["a private dataset", { read: { id: 5 }, target: `/api/v1/json/data/5?api_key=${keys.bob}` }, /private, or gone/],
  ["another dataset", { target: "/api/v1/json/data/2" }, /another dataset: 2/],
  ["the other format", { target: "/api/v1/xml/data/1" }, /the other format: text\/xml/],
  ["a cached session", { headers: { ...cached, "set-cookie": "a=b" } }, /a session/],
  ["a key's public answer", { read: keyed, headers: { ...cached, "cache-control": "public" } }, /any cache may share/],
  ["a cached error to a key", { read: { ...keyed, id: 99 }, headers: cached }, /a key gets the error/],
  ["a cached list to a key", { read: { ...keyed, ...list }, headers: cached }, /a key gets the list/],
  ["an answer to a wrong key", { read: { who: "stranger" } }, /a key that legacy does not know is answered/],
  [
    "a refused key",
    { read: keyed, status: 412, body: '{"error":{"code":"103"}}' },
    /a key that legacy knows is refused/,
  ],
  ["an error while legacy is well", { status: 502, body: "" }, /status 502, code NaN, though legacy is well/],
  ["a document without a dataset", { body: "{}" }, /status 200, code NaN/],
  ["no answer", { status: 0 }, /no answer/],
])("the oracle of old clients judges %s", (_, given, judgement) => {
  expect(judged(given) ?? "right").toMatch(judgement);
});

test("a run of old clients reports what the oracle finds", async () => {
  const clients = await openOldClients({ seed: 5, requests: 100, moods: ["well"], lag: 0 });
  onTestFinished(() => clients.upstream.close());
  const gateway = new URL(await httpUpstream((_, response) => response.writeHead(502).end()));
  const run = await clients.run({ gateways: () => [Number(gateway.port)], maxAge: () => Number.POSITIVE_INFINITY });
  expect(run.wrong).toBeGreaterThan(0);
  expect(run.examples.join("\n")).toMatch(/though legacy is well/);
});
