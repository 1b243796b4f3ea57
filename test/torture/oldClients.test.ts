import { createServer } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { listen } from "../../src/operation/network/listen.ts";
import { keys, openCatalogue, type Revision } from "./fuzz/oldClients/catalogue.ts";
import { type Bounds, judgeOldRead } from "./fuzz/oldClients/oracle.ts";
import { openOldClients } from "./fuzz/oldClients/run.ts";
import { ask } from "./lib/client.ts";

type Given = { status: number; headers: Record<string, string>; body: Buffer };
/** A request, and how legacy answers it or one for another path. */
type LegacyRequest = {
  method: string;
  path: string;
  key: string | undefined;
  legacy: (path?: string) => Promise<Given>;
};
/** The answer of a gateway with this mistake; `undefined`: none. */
type Mistake = (asked: LegacyRequest) => Promise<Given | undefined>;

/** A correct gateway without a cache, with one mistake. */
const openDouble = async (upstream: string, mistake: Mistake): Promise<number> => {
  const server = createServer((request, response) => {
    const { method = "", url: path = "", headers } = request;
    const sent: Buffer[] = [];
    const legacy = async (target = path): Promise<Given> => {
      const { "content-type": type, "x-write": write, cookie } = headers;
      const fields = {
        ...(type && { "Content-Type": type }),
        ...(write && { "X-Write": String(write) }),
        ...(cookie && { Cookie: cookie }),
      };
      const answer = await ask(Number(new URL(upstream).port), target, {
        method,
        headers: fields,
        ...(sent.length > 0 && { body: Buffer.concat(sent) }),
      });
      // A lost answer to a write stays unknown.
      if (answer.status === 0) return { status: 502, headers: {}, body: Buffer.from("") };
      return { ...answer, headers: { "content-type": answer.headers["content-type"] ?? "" } };
    };
    const key = new URL(path, upstream).searchParams.get("api_key") ?? undefined;
    const answer = async () => {
      const given = await mistake({ method, path, key, legacy });
      if (given === undefined) response.socket?.destroy();
      else response.writeHead(given.status, given.headers).end(given.body);
    };
    request.on("data", (chunk: Buffer) => sent.push(chunk)).on("end", () => void answer());
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  return port;
};

const judged = async (mistake: Mistake) => {
  const clients = await openOldClients({ seed: 5, requests: 600, moods: ["well", "losesAnswers"], lag: 0 });
  onTestFinished(() => clients.upstream.close());
  const port = await openDouble(clients.upstream.url, mistake);
  return clients.run({ gateways: () => [port], maxAge: () => Number.POSITIVE_INFINITY });
};

const withoutQuery = (path: string): string => path.split("?", 1)[0] as string;
const isList = (path: string): boolean => path.includes("/list");
const cached = ({ headers, ...given }: Given, more: Record<string, string> = {}): Given => ({
  ...given,
  headers: { ...headers, "cache-control": "private, no-cache", "cache-status": "double; hit", ...more },
});

/** Keeps public answers for ever, whatever is written; `mark` changes the kept answer. */
const keeping = (mark: (given: Given) => Given): Mistake => {
  const kept = new Map<string, Given>();
  return async ({ method, path, key, legacy }) => {
    if (method !== "GET" || key !== undefined) return legacy();
    const found = kept.get(path);
    if (found !== undefined) return mark(found);
    const given = await legacy();
    kept.set(path, given);
    return given;
  };
};

/** Legacy's answers to reads, changed. */
const changing =
  (change: (given: Given, asked: LegacyRequest) => Given | undefined | Promise<Given | undefined>): Mistake =>
  async (asked) =>
    asked.method === "GET" ? change(await asked.legacy(), asked) : asked.legacy();

test("finds nothing wrong with a gateway that makes no mistake", async () => {
  const { wrong, examples, reads, writes } = await judged(async ({ legacy }) => legacy());
  expect([wrong, examples]).toEqual([0, []]);
  expect(Math.min(reads, writes)).toBeGreaterThan(20);
});

test.each<[what: string, mistake: Mistake, example: RegExp]>([
  ["an answer from before a write that was answered", keeping(cached), /cached: older than a write/],
  ["one that claims to come from legacy", keeping((given) => given), /passed: legacy would answer otherwise/],
  [
    "a private dataset that is shown to others",
    changing((given, { path, key, legacy }) => (key === undefined ? legacy(`${path}?api_key=${keys.ann}`) : given)),
    /private, or gone/,
  ],
  [
    "another dataset",
    async ({ path, legacy }) => legacy(path.replace(/\d+(?=$|\?)/, (id) => String(Number(id) + 1))),
    /another dataset: \d+/,
  ],
  ["the other format", async ({ path, legacy }) => legacy(path.replace("/json", "")), /the other format: text\/xml/],
  ["a session in a cached answer", changing((given) => cached(given, { "set-cookie": "a=b" })), /a session/],
  [
    "an answer to a key that any cache may share",
    changing((given) => cached(given, { "cache-control": "public" })),
    /any cache may share/,
  ],
  [
    "an error that a key gets from the cache",
    changing((given) => (given.status === 200 ? given : cached(given))),
    /a key gets the error of a request without a key/,
  ],
  [
    "a list that a key gets from the cache",
    changing((given, { path }) => (isList(path) && given.status === 200 ? cached(given) : given)),
    /a key gets the list of a request without a key/,
  ],
  [
    "a wrong key that is answered",
    changing((given, { path, legacy }) => (path.includes(keys.stranger) ? legacy(withoutQuery(path)) : given)),
    /a key that legacy does not know is answered/,
  ],
  [
    "a key that is refused",
    changing((given, { path, legacy }) =>
      path.includes(keys.ann) ? legacy(path.replace(keys.ann, keys.stranger)) : given,
    ),
    /a key that legacy knows is refused/,
  ],
  [
    "an error of a gateway whose legacy is well",
    changing((given, { path }) => (isList(path) ? { ...given, status: 502 } : given)),
    /status 502, code NaN, though legacy is well/,
  ],
  [
    "a page of legacy's front",
    changing((given) => ({ ...given, headers: { "content-type": "text/html" } })),
    /is well/,
  ],
  [
    "a document without a dataset",
    changing((given) => (given.status === 200 ? { ...given, body: Buffer.from("{}") } : given)),
    /status 200, code NaN/,
  ],
  ["requests without an answer", changing((given, { path }) => (isList(path) ? undefined : given)), /no answer/],
])("reports %s", async (_, mistake, example) => {
  const { wrong, examples } = await judged(mistake);
  expect(wrong).toBeGreaterThan(0);
  expect(examples.join("\n")).toMatch(example);
});

describe("answers within the bounds", () => {
  /** The judgement of a cached answer that is a second older than a change. */
  const judgedWith = (change: Partial<Revision>, bounds: Partial<Bounds>, id?: number) => {
    const catalogue = openCatalogue();
    const path = `/api/v1/json/data/${id ?? "list"}`;
    const { status, type, body } = catalogue.answer("GET", path, "").answer;
    const { at } = Object.assign(catalogue.change(1, {}), change);
    const read = {
      id,
      form: "json",
      who: undefined,
      mayBeShownMore: false,
      gateway: 1,
      sentAt: at + 1000,
      answeredAt: at + 1000,
    } as const;
    const headers = { "content-type": type, "cache-status": "hit" };
    const given = { isOut: false, maxAge: 2000, lag: 0, ...bounds };
    return judgeOldRead(catalogue, read, { status, headers, body: Buffer.from(body), ms: 0 }, given);
  };

  test("a change that no answered write made may stay unseen for `maxAge`", () => {
    expect(judgedWith({}, {}, 1)).toBeUndefined();
    expect(judgedWith({}, { maxAge: 999 }, 1)).toMatch(/: 1000 ms too old, of 999$/);
  });

  test("an answered write may stay unseen by another gateway for `lag`", () => {
    const lag = 2000;
    const written = { answeredAt: performance.now(), answeredBy: 2 };
    expect(judgedWith(written, { lag }, 1)).toBeUndefined();
    for (const late of [judgedWith(written, {}, 1), judgedWith({ ...written, answeredBy: 1 }, { lag }, 1)])
      expect(late).toMatch(/: older than a write/);
  });

  test("a list may lack a tag while legacy fails, but no other write", () => {
    const tag = { isSoft: true, answeredAt: 0 };
    expect(judgedWith(tag, { isOut: true })).toBeUndefined();
    for (const about of [
      judgedWith(tag, {}),
      judgedWith(tag, { isOut: true }, 1),
      judgedWith({ answeredAt: 0 }, { isOut: true }),
    ])
      expect(about).toMatch(/: older than a write/);
  });
});
