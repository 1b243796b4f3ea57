import { expect, onTestFinished, test } from "vitest";
import { keys } from "../answer/support.ts";
import { clock } from "../cache/support.ts";
import { cachingOver, mallory } from "../oldReads/support.ts";
import { until } from "../../support/waiting.ts";
import { failingLegacy } from "./support.ts";

/**
 * The first answers in each form in which legacy fails, if nothing is stored. A number: an error by the gateway.
 * `9502`: the same 502 with the code of a write that legacy may have performed. `legacy`: the answer of legacy, as it
 * came. `cut`: an answer that breaks off.
 */
const firstAnswers = `
| form                                                  | new read | new write | old read   | old write | website | data file |
| database no-connections                               | 503      | 503       | legacy     | legacy    | legacy  | 503       |
| page-503 page-429                                     | 503      | 503       | legacy     | legacy    | legacy  | legacy    |
| page-502 page-504 page-301 page-302 page-403 page-404 | 502      | 502       | legacy     | legacy    | legacy  | legacy    |
| page-200 empty-200 empty-500                          | 502      | 502       | legacy     | legacy    | legacy  | legacy    |
| cut-200                                               | 502      | 502       | 502 or cut | cut       | cut     | cut       |
| dropped                                               | 502      | 502       | 502        | 9502      | 502     | 502       |
`;

/**
 * The answer to a read in any form, by its caller and by the public answer that is stored. `none`: 404, legacy's 412
 * for a record or rows that are not there. At first the gateway does not know that legacy fails; once it is known, no
 * read reaches legacy. `hit`, `stale`: the stored answer. `failure`: the answer of the table above. `503`: an error by
 * the gateway. `103`: the refusal of the key.
 */
const reads = `
|                                                  | at first                            | known                          |
| read, callers                                    | nothing | none    | fresh   | stale   | nothing | none | fresh | stale |
| new record, no key                               | failure | hit     | hit     | stale   | 503     | hit  | hit   | stale |
| new record, accepted key                         | failure | failure | hit     | stale   | 503     | 503  | hit   | stale |
| new record, unknown key / refused key            | failure | failure | failure | failure | 503     | 503  | 503   | 503   |
| new list, no key                                 | failure | hit     | hit     | stale   | 503     | hit  | hit   | stale |
| new list, accepted key / unknown key             | failure | failure | failure | failure | 503     | 503  | 503   | 503   |
| old record, no key                               | failure | hit     | hit     | stale   | 503     | hit  | hit   | stale |
| old record, accepted key / unknown key / session | failure | failure | hit     | stale   | 503     | 503  | hit   | stale |
| old record, browser                              | failure | failure | stale   | stale   | 503     | 503  | hit   | stale |
| old record, refused key                          | 103     | 103     | 103     | 103     | 103     | 103  | 103   | 103   |
| old record, no-cache                             | failure | failure | failure | failure | 503     | 503  | 503   | 503   |
| old list, no key                                 | failure | hit     | hit     | stale   | 503     | hit  | hit   | stale |
| old list, accepted key / unknown key             | failure | stale   | stale   | stale   | 503     | hit  | hit   | stale |
| old list, session / browser                      | failure | stale   | stale   | stale   | 503     | hit  | hit   | stale |
| old list, refused key                            | 103     | 103     | 103     | 103     | 103     | 103  | 103   | 103   |
| old list, no-cache                               | failure | failure | failure | failure | 503     | 503  | 503   | 503   |
`;

const session = { Cookie: "ci_session=a" };
const callers: Record<string, { key?: string; headers?: Record<string, string> }> = {
  "no key": {},
  "accepted key": { key: keys.user },
  "unknown key": { key: keys.owner },
  "refused key": { key: mallory },
  session: { headers: session },
  browser: { headers: { ...session, "Sec-Fetch-Site": "same-origin" } },
  "no-cache": { key: keys.user, headers: { "Cache-Control": "no-cache" } },
};
const paths: Record<string, (id: number) => string> = {
  "new record": (id) => `/v1/datasets/${id}`,
  "new list": (id) => `/v1/data/list/data_id/${id}`,
  "old record": (id) => `/api/v1/json/data/${id}`,
  "old list": (id) => `/api/v1/xml/data/list/data_id/${id}`,
};

/** The rows below a table's heads, as cells. */
const rowsOf = (table: string, heads: number): string[][] =>
  table
    .trim()
    .split("\n")
    .slice(heads)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((text) => text.trim()),
    );

type State = "nothing" | "none" | "fresh" | "stale";
const states: State[] = ["nothing", "none", "fresh", "stale"];
/** Each read of the table. Each has a dataset of its own. */
const cells = rowsOf(reads, 2)
  .flatMap(([read = "", ...answers]) => {
    const [kind = "", names = ""] = read.split(", ");
    return names.split(" / ").flatMap((name) =>
      states.map((state, at) => {
        const expected = { "at first": answers[at], known: answers[at + states.length] };
        return { name: `${kind}, ${name}, stored ${state}`, kind, state, expected, ...callers[name] };
      }),
    );
  })
  .map((cell, at) => ({ ...cell, id: 100 + at, path: paths[cell.kind]?.(100 + at) ?? "" }));
type Cell = (typeof cells)[number];

type Shown = { status: number; body: string; headers: Headers };

/** The body of an error by the gateway: on the new interface, on legacy's, of the website, of a data file. */
const ownError = /^\{"detail":|^\{"error":\{"code":"(?:107|9502)"|<oml:code>107<|^$/;

/** `undefined`: the answer broke off. */
const whole = async <T>(answer: Promise<T>): Promise<T | undefined> => answer.catch(() => undefined);

/** A gateway that caches both interfaces, over a legacy that is well until it `fails`. */
const open = async () => {
  const { pass } = clock(["setTimeout", "clearTimeout"]);
  const stored = cells.filter(({ state }) => state === "fresh" || state === "stale");
  const legacy = await failingLegacy([1, ...stored.map(({ id }) => id)]);
  const gateway = await cachingOver(legacy);
  onTestFinished(() => legacy.recover());
  const { ask } = gateway;

  /** `502`, `legacy` or `cut`, as in the tables; else the answer itself. `path`: as legacy gets it from the client. */
  const describeFailure = async (shown: Shown | undefined, path: string, init: RequestInit = {}): Promise<string> => {
    if (shown === undefined) return "cut";
    const { status, body, headers } = shown;
    if (status > 500 && ownError.test(body)) {
      if (body.includes('"code":"9502"')) return "9502";
      return status === 503 && headers.get("retry-after") === null ? "503 without Retry-After" : `${status}`;
    }
    const direct = await whole(fetch(legacy.url + path, { redirect: "manual", ...init }));
    const isSame =
      direct?.status === status &&
      (await whole(direct.text())) === body &&
      ["content-type", "location", "retry-after"].every((name) => direct.headers.get(name) === headers.get(name));
    return isSame ? "legacy" : `${status} ${body}`;
  };
  return { ...gateway, legacy, ask, pass, describeFailure };
};

type Opened = Awaited<ReturnType<typeof open>>;

/** Has legacy answer in this form, but for the gateway's probe. */
const failAtFirst = ({ legacy }: Opened, form: string): void => void Object.assign(legacy, { form, isProbeWell: true });

const tag = new URLSearchParams({ api_key: keys.user, data_id: "1", tag: "a" });
const tagging = { "Content-Type": "application/json", "X-API-Key": keys.user };
const firstRequests: [path: string, init?: RequestInit][][] = [
  [["/v1/datasets/2"], ["/v1/datasets/3", { headers: { "X-API-Key": keys.user } }], ["/v1/data/list/data_id/2"]],
  [["/v1/datasets/tag", { method: "POST", headers: tagging, body: '{"data_id":1,"tag":"a"}' }]],
  [
    ["/api/v1/json/data/2"],
    ["/api/v1/xml/data/2"],
    ["/api/v1/json/data/list/limit/5"],
    [`/api/v1/xml/data/list/limit/5?api_key=${keys.user}`],
  ],
  [["/api/v1/json/data/tag", { method: "POST", body: tag }]],
  [["/"]],
  [["/data/v1/download/1/a.arff"]],
];
const firstRows = rowsOf(firstAnswers, 1).flatMap(([forms = "", ...answers]) =>
  forms.split(" ").map((form) => [form, answers.join(" | ")] as const),
);

test.each(firstRows)("the first answers in the form %s", async (form, expected) => {
  const opened = await open();
  const { ask, describeFailure } = opened;
  failAtFirst(opened, form);
  const answers: string[] = [];
  for (const requests of firstRequests) {
    const different = new Set<string>();
    for (const [path, { headers, ...init } = {}] of requests) {
      const shown = await whole(ask(path, headers as Record<string, string>, init));
      different.add(await describeFailure(shown, path, { ...init, headers: headers ?? {} }));
    }
    answers.push([...different].join(" or "));
  }
  expect(answers.join(" | ")).toBe(expected);
});

/** A gateway that has stored the public answers of the table; it knows which keys legacy accepts. */
const openStored = async () => {
  const opened = await open();
  const { ask, pass } = opened;
  const bodies = new Map<string, string>();
  const store = async (wanted: State) => {
    for (const { name, path, state } of cells) {
      if (state !== wanted) continue;
      const { body, how } = await ask(path);
      expect([name, how]).toEqual([name, expect.stringContaining("stored")]);
      bodies.set(path, body);
    }
  };
  await store("stale");
  pass(24 * 3_600_000);
  await store("fresh");
  await store("none");
  for (const key of [keys.user, mallory]) await ask(`/api/v1/json/data/1?api_key=${key}`);

  const answerTo = async ({ key, headers, ...cell }: Cell): Promise<string> => {
    const isNew = cell.kind.startsWith("new");
    const path = key === undefined || isNew ? cell.path : `${cell.path}?api_key=${key}`;
    const sent = { ...headers, ...(isNew && key !== undefined && { "X-API-Key": key }) };
    const shown = await ask(path, sent);
    const isStale = shown.how.includes("stale-if-error");
    if (!isStale && !shown.how.startsWith("hit"))
      return /^.*\n\t<oml:code>103</.test(shown.body) ? "103" : opened.describeFailure(shown, path, { headers: sent });
    const isShared = shown.headers.get("cache-control")?.startsWith("public") === true;
    const isPublic = key === undefined && headers === undefined;
    const isRight =
      shown.body === bodies.get(cell.path) && shown.headers.get("set-cookie") === null && isShared === isPublic;
    return `${isRight ? "" : "wrong "}${isStale ? "stale" : "hit"}`;
  };
  /** The cells whose answer is not that of the table. */
  const wrongCells = async (time: keyof Cell["expected"]): Promise<string[]> => {
    const wrong: string[] = [];
    for (const cell of cells) {
      const given = await answerTo(cell);
      const answer = time === "at first" && /^(50[234]|legacy)$/.test(given) ? "failure" : given;
      if (answer !== cell.expected[time]) wrong.push(`${cell.name}: ${answer}, not ${cell.expected[time]}`);
    }
    return wrong;
  };
  return { ...opened, wrongCells };
};

/** A form of each kind. The last three have no first answers: each takes long, breaks off, or is known at once. */
const forms = "database page-429 page-302 page-403 page-404 page-200 empty-500 dropped frozen cut-200 unreachable";

test.each(forms.split(" "))("in the form %s each read has its answers", async (form) => {
  const opened = await openStored();
  const { legacy, ask, core, pass, wrongCells } = opened;
  const hasFirst = !["frozen", "cut-200", "unreachable"].includes(form);
  if (hasFirst) failAtFirst(opened, form);
  expect(hasFirst ? await wrongCells("at first") : []).toEqual([]);
  // A front that refuses is a trouble of its own: legacy does not count as failing.
  if (form === "page-403") return;
  if (form === "unreachable") await legacy.close();
  Object.assign(legacy, { form, isProbeWell: false, probes: 0 });
  // The next probe may be sent.
  pass(1000);
  const isFrozen = form === "frozen";
  /** Asks for a dataset; resolves when legacy has the request, or has answered it. */
  const miss = async (id: number): Promise<void> => {
    const answer = ask(`/v1/datasets/${id}`);
    if (isFrozen) await until(() => legacy.asked.at(-1)?.endsWith(`/${id}`) === true);
    else await answer;
  };
  for (const id of [2, 3, 4]) await miss(id);
  if (isFrozen) {
    pass(5000);
    await until(() => legacy.probes === 1);
    pass(5000);
  }
  await until(() => core.outage.isOn());
  // The request that is sent each second in spite of it.
  await miss(5);
  legacy.asked.length = 0;
  expect([await wrongCells("known"), legacy.asked]).toEqual([[], []]);
});
