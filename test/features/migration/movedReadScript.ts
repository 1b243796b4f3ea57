import { expect, onTestFinished, test, vi } from "vitest";
import type { StageName } from "../../../features/migration/stage.ts";
import { parseJson } from "../../../src/catalogue/rules/parseJson.ts";
import { sampleCatalogue } from "../../../tools/sampleLegacy/catalogue.ts";
import { completeDataset } from "../../../tools/sampleLegacy/completeDataset.ts";
import { openSample } from "../../../tools/sampleLegacy/openSample.ts";
import { catalogue } from "../../../transforms/catalogue.ts";
import { runSteps, type Steps } from "../../gateway/cache/script.ts";
import { clock } from "../../gateway/cache/support.ts";
import { asking, listeningGateway } from "../../gateway/http/support.ts";
import { httpUpstream } from "../../gateway/proxy/support.ts";
import { startStandIn } from "../../standIn/startStandIn.ts";
import { fakeLegacy } from "../../support/fakeLegacy.ts";
import { settled, until } from "../../support/waiting.ts";
import { despite, migrationOf } from "./support.ts";

const cookie = { Cookie: "ci_session=x" };
const callers: Record<string, { headers?: Record<string, string>; key?: string }> = {
  admin: { key: "AD000000000000000000000000000000" },
  owner: { key: "DA1A0000000000000000000000000000" },
  other: { key: "00000000000000000000000000000000" },
  wrong: { key: "f".repeat(32) },
  session: { headers: cookie },
  browser: { headers: { ...cookie, "Sec-Fetch-Site": "same-origin" } },
};

/** `page`: the rows of a page of each list. `datasets`: their number, in place of the sample's. */
type Options = {
  stage?: StageName;
  environment?: Record<string, string>;
  page?: number;
  datasets?: number;
};

/** A gateway whose old clients follow the stages (default: modern). Legacy and modern have the same datasets. */
export const openOldClients = async ({ stage = "modern", environment, page, datasets: count }: Options = {}) => {
  const rows = Array.from({ length: count ?? 0 }, (_, i) => completeDataset({ id: i + 1, name: `dataset ${i + 1}` }));
  const datasets = count === undefined ? structuredClone(sampleCatalogue.datasets) : rows;
  const [legacy, behindModern] = [
    await fakeLegacy({ answer: openSample({ datasets }) }),
    await fakeLegacy({ answer: openSample({ datasets }) }),
  ];
  const answer = openSample({ datasets });
  const direct = await httpUpstream((request, response) => void answer(request, response));
  const modern = await startStandIn({ legacyUrl: behindModern.url });
  onTestFinished(modern.close);
  const endpoints = Object.entries(catalogue.endpoints).map(([name, endpoint]) => {
    const { legacyForm: form } = endpoint;
    return [name, page && form?.page ? { ...endpoint, legacyForm: { ...form, page } } : endpoint] as const;
  });
  const moved = endpoints.flatMap(([name, { legacyForm }]) => (legacyForm ? [name] : []));
  const settings = { CACHE_LEGACY: "all", MOVE_LEGACY: moved.join(","), TRUSTED_PROXIES: "127.0.0.1" };
  const gateway = await listeningGateway(
    legacy.url,
    { ...settings, MODERN_URL: modern.url, ...environment },
    {
      expected: [],
      catalogue: { ...catalogue, endpoints: Object.fromEntries(endpoints) as typeof catalogue.endpoints },
    },
  );
  // The gateway waits for the requests that a frozen legacy has.
  onTestFinished(legacy.close);
  const move = (endpoint: string, to: StageName) => {
    const share = { legacy: 0, shadow: 100, canary: 50, modern: 0 }[to];
    const note = { despite, oldClients: true } as const;
    return migrationOf(gateway).stages.move(endpoint, { stage: to, share }, "Ada", "a test", note);
  };
  for (const endpoint of moved) await move(endpoint, stage);
  return {
    datasets,
    gateway,
    legacy,
    behindModern,
    modern,
    direct,
    move,
    ask: asking(gateway.url, { Connection: "close" }),
  };
};

type Answered = Awaited<ReturnType<ReturnType<typeof asking>>>;

/** The document of an answer as a text, without the blanks that do not count. */
const documentOf = ({ body }: Answered): string =>
  body.startsWith("{") && parseJson(body) !== undefined
    ? JSON.stringify(parseJson(body))
    : body.replaceAll(/<\?xml[^>]*\?>|\s+(?=<|\/>)|(?<=>)\s+/g, "");

const wordsOf = (answer: Answered, direct: Answered): string[] => {
  const { status, headers, how, body } = answer;
  const [, inJson, inXml] = /"code":"(\d+)"|<oml:code>(\d+)/.exec(body) ?? [];
  const isLike = status === direct.status && headers.get("content-type") === direct.headers.get("content-type");
  return [
    `${status}`,
    /(?<=backend=)\w+/.exec(headers.get("gateway-decision") ?? "")?.[0] ?? "undecided",
    ...how.replace("detail=", "").split("; "),
    ...(headers.get("cache-control") ?? "").split(", "),
    headers.get("content-encoding") ?? "",
    `code=${inJson ?? inXml}`,
    `rows=${body.match(/"did":|<oml:did>/g)?.length}`,
    isLike && documentOf(answer) === documentOf(direct) ? "same" : "",
    isLike && body === direct.body ? "bytes" : "",
  ].filter(Boolean);
};

/**
 * Makes a test of the script that follows: one step a line, over `openOldClients` and a clock that only `pass`
 * advances, with all timers.
 *
 * - `ask owner json/data/61 -> 200 modern hit same`: a request, and words of its answer: the status, the side that
 *   made it (`undecided`: it does not say), words of `Cache-Status`, `Cache-Control` and `Content-Encoding`, legacy's
 *   code (`code=112`), a list's datasets (`rows=3`); `same`: legacy's document for this caller; `bytes`: in its bytes;
 *   `byHitPath`; `has:iris`: a text; `!hit`: not that word. `ask 7 ...`: without a key, from address 7.
 * - `... with If-None-Match: TAG`: with a header, and the validator of the last answer. `ask owner,admin json/data/16,
 *   data/17`: each asks for each. `-> 200 stored | 200 hit`: two requests; `-> until gzip`: as many as it takes.
 *   `a: ask ...` goes on; `a -> 200` waits.
 * - `legacy is down`, or another form of outage, or `well`; `modern is html listTasks`: a fault, in an endpoint or in
 *   requests with a text. `modern holds` its answers; `modern answers 2` of them, or all.
 * - `legacy got 2`, `modern got 1`: so many requests since the last such step. `3 stored`. `tag 61`: a write to legacy.
 */
export const script =
  (title: string, options: Options = {}) =>
  (parts: TemplateStringsArray, ...values: unknown[]): void =>
    // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- both are the script's
    test(title, () => run(String.raw({ raw: parts }, ...values), options));

const run = async (text: string, options: Options): Promise<void> => {
  // However busy the machine is, no time is over before the script says so.
  const { pass } = clock(["setTimeout", "clearTimeout"]);
  const { gateway, legacy, behindModern, modern, direct, move, ask } = await openOldClients(options);
  const { cache, memory } = gateway.core;
  const lookUps = vi.spyOn(cache, "answer");
  const asked = {
    legacy: () => legacy.asked.length,
    modern: () => Object.values(modern.asked()).reduce((a, b) => a + b, 0),
  };
  const before = { legacy: 0, modern: 0 };
  const running = new Map<string, (expected: string) => Promise<void>>();
  let tag = "";

  const begin = (method: string | undefined, who: string, path: string, name: string | undefined, value: string) => {
    const { key, headers } = callers[who] ?? { headers: { "X-Forwarded-For": `192.0.2.${who}` } };
    const target = `${path.startsWith("/") ? "" : "/api/v1/"}${path}${key === undefined ? "" : `?api_key=${key}`}`;
    // With a validator alone, `fetch` asks for no cached answer.
    const more = name && { "Cache-Control": "max-age=3600", [name]: value.replace("TAG", tag) };
    const lookedUp = lookUps.mock.calls.length;
    const answering = ask(target, { ...headers, ...more }, { method: method ?? "GET" });
    answering.catch(() => undefined);
    return async (expected: string): Promise<void> => {
      const answer = await answering;
      tag = answer.headers.get("etag") ?? tag;
      const words = lookUps.mock.calls.length === lookedUp ? ["byHitPath"] : [];
      words.push(...wordsOf(answer, await asking(direct)(target, headers)));
      const isSaid = (word: string) =>
        words.includes(word) || (word.startsWith("has:") && answer.body.includes(word.slice(4)));
      const wrong = expected.split(" ").filter((word) => isSaid(word.replace("!", "")) === word.startsWith("!"));
      expect(wrong, `${words.join(" ")}\n${answer.body.slice(0, 300)}`).toEqual([]);
    };
  };

  const steps: Steps = [
    [
      /^(HEAD |POST )?ask (?:([\w,]+) )?(\S*\/\S*(?:, \S*\/\S*)*)(?: with ([\w-]+): (.*?))? -> (.+)$/,
      async (method, who = "1", paths = "", name, value = "", expected = "") => {
        for (const caller of who.split(","))
          for (const path of paths.split(", "))
            for (const words of expected.split(" | ")) {
              const again = () => begin(method?.trim(), caller, path, name, value);
              if (!words.startsWith("until ")) await again()(words);
              else
                await until(() =>
                  again()(words.slice(6)).then(
                    () => true,
                    () => false,
                  ),
                );
            }
      },
    ],
    [
      /^(\w+): ask (?:(\w+) )?(\S+)$/,
      (label = "", who = "1", path = "") => running.set(label, begin(undefined, who, path, undefined, "")),
    ],
    [/^(\w+) -> (.+)$/, (label = "", expected = "") => running.get(label)?.(expected)],
    [/^legacy is (\S+)$/, (form) => Object.assign(legacy, { trouble: form === "well" ? undefined : form })],
    [
      /^modern is (\w+)(?: (\S+))?$/,
      (fault, of = "") => {
        before.modern = 0;
        const at = Object.hasOwn(catalogue.endpoints, of) ? { endpoint: of } : { endpoint: "*", within: of };
        modern.use(fault === "well" ? [] : [{ ...at, fault: fault as "down" }]);
      },
    ],
    [/^modern holds$/, () => behindModern.hold()],
    [/^modern answers(?: (\d+))?$/, (count) => behindModern.letGo(Number(count ?? Infinity))],
    [
      /^(legacy|modern) got (\d+)$/,
      async (name, count) => {
        const side = name as "legacy" | "modern";
        await until(() => asked[side]() - before[side] >= Number(count));
        await settled();
        expect(asked[side]() - before[side], `to legacy: ${legacy.asked.join(", ")}`).toBe(Number(count));
        before[side] = asked[side]();
      },
    ],
    [/^move (\w+) to (\w+)$/, (endpoint = "", to) => move(endpoint, to as StageName)],
    [
      /^tag (\d+)$/,
      (id = "") => {
        const body = new URLSearchParams({ api_key: callers["admin"]?.key ?? "", data_id: id, tag: "new" });
        return ask("/api/v1/json/data/tag", {}, { method: "POST", body });
      },
    ],
    [/^(\d+) stored$/, (count) => expect(cache.size().entries).toBe(Number(count))],
    [/^(\d+) bytes are taken$/, (bytes) => expect(memory.take(Number(bytes))).toBe(true)],
    [/^pass (\d+) s$/, (seconds) => pass(1000 * Number(seconds))],
  ];
  await runSteps(text, steps);
};
