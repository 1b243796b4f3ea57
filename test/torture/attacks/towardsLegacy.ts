import { type Attack, holds, none } from "../lib/attack.ts";
import { ask, exchange, inParallel } from "../lib/client.ts";

const hostile = [
  ...String.raw`
    ' " \ / // . .. ../.. %2F %252F %2e%2e %2e%2e%2f ? %3F # %23 %0d%0a %00 %01 %7f /* %2F%2A -- ; %3B &
    %26 = %3D + %2B %20 %09 %C3%A4 %C0%AF %E2%80%A8 %EF%BC%87 %CA%BC %FF %ED%A0%80 %F0%9F%98%80 % %% %2
    %zz 1%20OR%201=1 61%27 1,2 1%2C2 1e3 0x10 1.0 %D9%A3 +1 -1 00061 61%0A 61%00 61;x a..b 1..2 1..2..3
    1.. 2..1 1%2E%2E2 999999999999999999999 2147483648 __proto__ constructor <script> %3Cscript%3E
    a%26api_key%3DX a&api_key=X a%3Fapi_key=X {{x}} [] : ~ @ ! $ ( | ^ a%0d%0aHost:%20evil %c2%a0
  `
    .trim()
    .split(/\s+/),
  "`",
  "%0D%0AX: y",
  "\r",
  " ",
  "1 OR 1=1",
  "${x}",
  "a".repeat(129),
];
const filters =
  "status tag data_name data_version uploader data_id number_instances number_missing_values limit offset".split(" ");
/** Where a text is put into a target. */
const places: ((text: string) => string)[] = [
  (text) => `/v1/datasets/${text}`,
  (text) => `/v1/setup/${text}`,
  (text) => `/v1/studies/${text}`,
  (text) => `/v1/flow/exists/${text}/1`,
  (text) => `/v1/flow/exists/n/${text}`,
  ...filters.map((name) => (text: string) => `/v1/data/list/${name}/${text}`),
  (text) => `/v1/data/list/${text}/1`,
  (text) => `/v1/datasets/61?api_key=${text}`,
  (text) => `/v1/datasets/61?x=${text}`,
];
/** Where a value is put into a body. */
const bodies = (value: unknown): [path: string, body: unknown][] => [
  ["/v1/datasets/list", { tag: value }],
  ["/v1/datasets/list", { data_name: value }],
  ["/v1/datasets/list", { status: value }],
  ["/v1/datasets/list", { number_instances: value }],
  ["/v1/datasets/list", { data_id: [value] }],
  ["/v1/datasets/list", { limit: value }],
  ["/v1/datasets/list", { [String(value)]: "1" }],
  ["/v1/datasets/tag", { data_id: 61, tag: value }],
  ["/v1/datasets/tag", { data_id: value, tag: "a" }],
  ["/v1/setup/tag", { setup_id: value, tag: value }],
  ["/v1/datasets/untag", { data_id: 61, tag: value }],
];

const CLEAN_PATH =
  /^\/api\/v1\/(json|xml)\/(data\/\d+|setup\/\d+|study\/[A-Za-z0-9_.-]{1,64}|flow\/exists(\/[A-Za-z0-9~.:_(),-]+){2}|flow\/exists|data\/list(\/(status|tag|data_name|data_version|uploader|data_id|number_\w+|limit|offset)\/[A-Za-z0-9_.,() %-]+)*|evaluationmeasure\/list|estimationprocedure\/list|(data|setup)\/(un)?tag|data\/qualities\/\d+|evaluation\/request[\w/]*)$/;

type Received = { target: string; body: string };

/** True if legacy's front, its router, PHP and SQL can read the request in one way only. */
const isClean = ({ target, body }: Received): boolean => {
  const [path = "", query = ""] = target.split("?");
  if (!CLEAN_PATH.test(path) || /%(?!20)/.test(path)) return false;
  if (path.split("/").some((segment) => segment === "." || segment === "..")) return false;
  if (!/^(api_key=[A-Za-z0-9]{1,64})?$/.test(query)) return false;
  return [...new URLSearchParams(body)].every(([name, value]) => {
    if (name === "data_id" || name === "setup_id") return /^\d+$/.test(value);
    if (name === "tag") return /^[A-Za-z0-9_.-]{1,64}$/.test(value);
    if (name === "api_key") return /^[A-Za-z0-9]{1,64}$/.test(value);
    // Flow names may hold anything but what legacy rewrites.
    return (name === "name" || name === "external_version") && !/['"\0]|%[0-9a-f]{2}|<script/i.test(value);
  });
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

export const towardsLegacy: Attack = {
  name: "towards-legacy",
  what: "Hostile inputs in every place of a request: what legacy receives of them is clean.",
  async run({ startGateway, openUpstream }) {
    const received: Received[] = [];
    const upstream = await openUpstream(({ url }, response, body) => {
      received.push({ target: url, body: body.toString("latin1") });
      response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    });
    const { port, isAlive } = await startGateway({ LEGACY_URL: upstream.url, CACHE_BYTES: "0" });
    const statuses = new Map<number, number>();
    const note = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const targets = places.flatMap((place) => hostile.map(place));
    await inParallel(targets.length * 2, 16, async (index) => {
      const key = index % 2 === 0 ? "" : "X-API-Key: AAAA\r\n";
      const bytes = `GET ${targets[index >> 1]} HTTP/1.1\r\nHost: h\r\n${key}Connection: close\r\n\r\n`;
      note((await exchange(port, Buffer.from(bytes), { quiet: 2000, limit: 4000 })).status);
    });
    const values: unknown[] = [
      ...hostile.map(decoded),
      "\r\n",
      "\0",
      "a\nb",
      "\ud800",
      1e308,
      -1,
      1.5,
      2 ** 53,
      null,
      true,
      [],
      {},
      [[]],
      { $ne: 1 },
    ];
    const posts = values.flatMap(bodies);
    await inParallel(posts.length, 16, async (index) => {
      const [path, body] = posts[index] as [string, unknown];
      const headers = { "Content-Type": "application/json", "X-API-Key": "AAAA" };
      note((await ask(port, path, { method: "POST", headers, body: JSON.stringify(body), limit: 5000 })).status);
    });
    const unclean = received.filter((request) => !isClean(request));
    const counts = [...statuses]
      .toSorted(([a], [b]) => a - b)
      .map(([status, count]) => `${count} x ${status || "none"}`);
    return [
      none(
        `unclean requests among ${received.length} that legacy received`,
        unclean.map((request) => JSON.stringify(request).slice(0, 200)),
      ),
      holds("answers", counts.join(", "), "no 500, none lacking", !statuses.has(500) && !statuses.has(0)),
      holds("the process", isAlive() ? "alive" : "ended", "alive", isAlive()),
    ];
  },
};
