import { expect, test, vi } from "vitest";
import { keys, markOf, type Person } from "../../support/fakeLegacy.ts";
import { settled, until } from "../../support/waiting.ts";
import { cachedGateway, clock, coalesced } from "./support.ts";

type Answered = Awaited<ReturnType<Awaited<ReturnType<typeof cachedGateway>>["ask"]>>;
type Running = { answers: Promise<Answered[]>; leave: () => void };

const units: Record<string, number> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 24 * 3_600_000 };

/** Alice's writes, by their words; `id`: the last word of the step. */
const writes: Record<string, (id: string) => { path: string; json?: object; form?: Record<string, string> }> = {
  tag: (id) => ({ path: "POST /v1/datasets/tag", json: { data_id: Number(id), tag: "a" } }),
  "tag setup": (id) => ({ path: "POST /v1/setup/tag", json: { setup_id: Number(id), tag: "a" } }),
  "old tag": (id) => ({ path: "POST /api/v1/json/data/tag", form: { data_id: id, tag: "a" } }),
  "old untag": (id) => ({ path: "POST /api/v1/xml/data/untag", form: { data_id: id, tag: "a" } }),
  "old status": (id) => ({ path: "POST /api/v1/json/data/status/update", form: { data_id: id, status: "active" } }),
  "old delete": (id) => ({ path: `DELETE /api/v1/json/data/${id}?api_key=${keys.alice}` }),
  "old upload of": (kind) => ({ path: `POST /api/v1/json/${kind}`, form: {} }),
};

const HOW = /^( (hit|stored|collapsed|fwd=[a-z-]+|ttl=-?\d+|stale-while-revalidate|stale-if-error|only-if-cached))*$/;

/**
 * The answers in the words of scripts, with as much as the expectation says: `200 nobody 1 hit ttl=540`. An expectation
 * that has words of `Cache-Status` has all of them, except `ttl`.
 */
const wordsOf = (answers: Answered[], expected: string): string => {
  const [, mark, how = ""] = /^(?:\d+ x )?\d{3}( (?:nobody|alice|bob) \d+)?([^,]*)/.exec(expected) ?? [];
  if (!HOW.test(how)) throw new Error(`no expectation: ${expected}`);
  const counts = new Map<string, number>();
  for (const answer of answers) {
    const status = answer.how.split("; ").map((word) => word.replace("detail=", ""));
    const shown = how === "" ? [] : status.filter((word) => how.includes("ttl=") || !word.startsWith("ttl="));
    const words = [answer.status, ...(mark ? [markOf(answer.body)] : []), ...shown].join(" ");
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  const lines = [...counts].map(([words, count]) => (counts.size === 1 ? words : `${count} x ${words}`));
  return lines.toSorted().join(", ");
};

/** The steps of scripts: what a step looks like, and what it does with the words that it has in brackets. */
export type Steps = [RegExp, (...words: (string | undefined)[]) => unknown][];

/** Runs a script over these steps. */
export const runSteps = async (script: string, steps: Steps): Promise<void> => {
  for (const [index, line] of script.trim().split("\n").entries()) {
    const step = line.trim();
    if (step === "" || step.startsWith("#")) continue;
    try {
      const found = steps.find(([pattern]) => pattern.test(step));
      if (found === undefined) throw new Error("no such step");
      const [pattern, act] = found;
      await act(...(pattern.exec(step)?.slice(1) ?? []));
    } catch (error) {
      if (error instanceof Error) error.message = `line ${index + 1}, "${step}": ${error.message}`;
      throw error;
    }
  }
};

/**
 * Runs a script over a gateway, the fake of legacy, and a clock that only `pass` advances: one step a line. `timers`:
 * those that `pass` advances too.
 *
 * - `ask /v1/datasets/61 -> 200 nobody 1 hit`: a request and its answer; `ask alice ...`: with her key; `ask 20 times
 *   ...`: so many at once; `... with Cache-Control: no-cache`: with a header.
 * - `says Age: 7`: a header of the last answer. `2 stored`: the number of answers in the cache.
 * - `write alice tag 61 -> 200`: one of `writes`.
 * - `first: ask ...` goes on while the script does; `first -> 200` waits for it; `first leaves`: its client leaves.
 * - `legacy holds` its answers, those of the next 2 requests with `legacy holds 2`; `legacy answers` what it holds.
 * - `legacy is page-502` to all but the gateway's probe; `legacy is down` to all; `legacy is well`.
 * - `legacy got 2`: since the last such step legacy has got so many requests. `19 wait`: for the fetch of another.
 *
 * @throws An error that names the line, if a step is unknown or its answer is unexpected.
 */
export const run = async (
  script: string,
  environment: Record<string, string> = {},
  timers: Parameters<typeof clock>[0] = [],
): Promise<void> => {
  const time = clock(timers);
  const gateway = await cachedGateway(environment);
  const { legacy, core } = gateway;
  const running = new Map<string, Running>();
  let last: Answered | undefined;
  let counted = 0;
  let joined = 0;
  const runningAs = (label: string): Running => running.get(label) ?? expect.unreachable(`nothing runs as ${label}`);

  const begin = (count: number, send: (signal: AbortSignal) => Promise<Answered>): Running => {
    const leaving = new AbortController();
    const answers = Promise.all(Array.from({ length: count }, () => send(leaving.signal)));
    answers.catch(() => undefined);
    return { answers, leave: () => leaving.abort() };
  };
  const compare = async ({ answers }: Running, expected: string | undefined): Promise<void> => {
    const got = await answers;
    last = got.at(-1);
    if (expected !== undefined) expect(wordsOf(got, expected)).toBe(expected.split(", ").toSorted().join(", "));
  };
  const beginOrCompare = async (label: string | undefined, begun: Running, expected: string | undefined) => {
    if (label === undefined) await compare(begun, expected);
    else running.set(label, begun);
  };
  const write = (words: string, id: string, signal: AbortSignal) => {
    const { path: line, json, form } = writes[words]?.(id) ?? expect.unreachable(`no write: ${words}`);
    const [method = "", path = ""] = line.split(" ");
    const body = json ? JSON.stringify(json) : form && new URLSearchParams({ ...form, api_key: keys.alice });
    const headers = json ? { "Content-Type": "application/json", ...gateway.as(keys.alice) } : {};
    return gateway.ask(path, headers, { method, signal, ...(body && { body }) });
  };

  const steps: Steps = [
    [
      /^(?:(\w+): )?ask (?:(\d+) times )?(?:(nobody|alice|bob) )?(\/\S*)(?: with ([\w-]+): (.*?))?(?: -> (.+))?$/,
      (label, count = "1", who = "nobody", path = "", header, value = "", expected) => {
        const key = keys[who as Exclude<Person, "nobody">] as string | undefined;
        const headers = { ...(key && gateway.as(key)), ...(header && { [header]: value }) };
        const send = (signal: AbortSignal) => gateway.ask(path, headers, { signal });
        return beginOrCompare(label, begin(Number(count), send), expected);
      },
    ],
    [
      /^(?:(\w+): )?write alice ([a-z ]+) (\w+)(?: -> (.+))?$/,
      (label, words = "", id = "", expected) =>
        beginOrCompare(
          label,
          begin(1, (signal) => write(words, id, signal)),
          expected,
        ),
    ],
    [/^says ([\w-]+): (.+)$/, (name = "", value) => expect(last?.headers.get(name)).toBe(value)],
    [/^(\w+) -> (.+)$/, (label = "", expected) => compare(runningAs(label), expected)],
    [
      /^(\w+) leaves$/,
      async (label = "") => {
        const before = await gateway.clients();
        runningAs(label).leave();
        await until(async () => (await gateway.clients()) < before);
        await settled();
      },
    ],
    [/^pass (\d+) (ms|s|min|h|d)$/, (count, unit = "") => time.pass(Number(count) * (units[unit] ?? NaN))],
    [/^the wall clock goes back (\d+) s$/, (count) => vi.setSystemTime(Date.now() - Number(count) * 1000)],
    [/^legacy holds(?: (\d+))?$/, (count) => legacy.hold(Number(count ?? Infinity))],
    [/^legacy answers(?: (\d+))?$/, (count) => legacy.letGo(Number(count ?? Infinity))],
    [/^legacy is well$/, () => Object.assign(legacy, { trouble: undefined })],
    [/^legacy is (down)$/, (trouble) => Object.assign(legacy, { trouble, sparesProbes: false })],
    [/^legacy is ([a-z]+-\d{3}|frozen)$/, (trouble) => Object.assign(legacy, { trouble, sparesProbes: true })],
    [/^legacy changes$/, () => legacy.version++],
    [/^legacy shows all to alice alone$/, () => Object.assign(legacy, { privateTo: keys.alice })],
    [/^legacy (loses|finds) all$/, (verb) => Object.assign(legacy, { gone: verb === "loses" })],
    [/^legacy revokes alice's key$/, () => legacy.goodKeys.delete(keys.alice)],
    [/^legacy accepts alice's key$/, () => legacy.goodKeys.add(keys.alice)],
    [
      /^legacy got (\d+)$/,
      async (count) => {
        await until(() => legacy.asked.length >= counted + Number(count));
        await settled();
        const got = legacy.asked.slice(counted);
        counted = legacy.asked.length;
        if (got.length !== Number(count)) throw new Error(`legacy got ${got.length}: ${got.join(", ")}`);
      },
    ],
    [
      /^(\d+) wait$/,
      async (count) => {
        joined += Number(count);
        await until(async () => (await coalesced(core)) === joined);
      },
    ],
    [/^(\d+) stored$/, (count) => expect(core.cache.size().entries).toBe(Number(count))],
  ];
  await runSteps(script, steps);
};

/**
 * Makes a test of the script that follows.
 *
 * @example script("a second request is a hit")`ask /v1/datasets/61`
 */
export const script =
  (title: string, ...options: Parameters<typeof run> extends [string, ...infer Rest] ? Rest : never) =>
  (parts: TemplateStringsArray, ...values: unknown[]): void =>
    // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- both are the script's
    test(title, () => run(String.raw({ raw: parts }, ...values), ...options));
