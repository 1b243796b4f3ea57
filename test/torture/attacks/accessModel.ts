import { type Attack, type Check, type Context, holds, none } from "../lib/attack.ts";
import { type Answer, ask, inParallel, jsonOf } from "../lib/client.ts";
import { type Row, type UserName, isListed, isShown, openAccessLegacy, rowOfName, users } from "../lib/accessLegacy.ts";

const REQUESTS = 20_000;
/** Who answers: legacy, modern for half of the callers, modern. */
const STAGES = [{ stage: "legacy" }, { stage: "canary", share: 50 }, { stage: "modern", share: 0 }];
const CALLERS = 40;
const ROWS = 14;
const STRANGER = "dead000000000000000000000000beef";

/** A row as it was for some time; `from` and `to` in ms of performance.now(). */
type Interval = Row & { from: number; to: number };
type Caller = { user: UserName | undefined; isRefused: boolean; headers: Record<string, string>; query: string };

export const accessModel: Attack = {
  name: "access-model",
  what: "Random callers read and tag while rows turn private and public, in all stages: no leak, nothing stale after a write.",
  async run(context) {
    const checks: Check[] = [];
    for (const stage of STAGES) checks.push(...(await runIn(context, stage)));
    return checks;
  },
};

const runIn = async (context: Context, stage: (typeof STAGES)[number]): Promise<Check[]> => {
  const history = new Map<number, Interval[]>();
  const legacy = await openAccessLegacy(context, ROWS, (id, row) =>
    history.get(id)?.push({ ...row, from: performance.now(), to: Number.POSITIVE_INFINITY }),
  );
  for (const [id, row] of legacy.rows) history.set(id, [{ ...row, from: 0, to: Number.POSITIVE_INFINITY }]);
  const lifetimes = {
    fresh: "1s",
    staleWhileRevalidate: "1h",
    staleIfError: "1d",
    notFoundTtl: "2s",
    preconditionTtl: "2s",
  };
  const { port, isAlive } = await context.startGateway({
    LEGACY_URL: legacy.url,
    MODERN_URL: legacy.modern,
    STAGES: JSON.stringify({ getDataset: stage, listDatasets: stage, tagDataset: stage }),
    CACHE_LIFETIMES: JSON.stringify({ getDataset: lifetimes, listDatasets: lifetimes }),
  });
  const violations: string[] = [];
  const count = { reads: 0, shown: 0, writes: 0, tags: 0 };
  const editing = new Set<number>();
  /** How the row may have been while a request took from `t0` to `t1`. */
  const between = (id: number, t0: number, t1: number) =>
    (history.get(id) ?? []).filter(({ from, to }) => to >= t0 && from <= t1);

  const edit = async () => {
    const { random } = context;
    const id = 1 + random.integer(ROWS);
    if (editing.has(id)) return;
    editing.add(id);
    count.writes++;
    const field = random.chance(0.25)
      ? `owner=${random.pick(["ann", "bob", "carol"])}`
      : `visibility=${random.pick(["public", "private"])}`;
    const last = history.get(id)?.at(-1);
    const path = random.pick(["/api/v1/json/data/edit", "/api/v1/json/data/edit/", "/api/v1//json//data/edit"]);
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const body = `data_id=${id}&${field}&api_key=${users.admin}`;
    const { status } = await ask(port, path, { method: "POST", headers, body });
    if (status !== 200) violations.push(`an edit of ${id} was answered ${status}`);
    // Until the answer is here, the old state may be shown too.
    if (last) last.to = performance.now();
    editing.delete(id);
  };
  const read = async () => {
    count.reads++;
    const caller = pickCaller(context);
    const { random } = context;
    const t0 = performance.now();
    if (random.chance(0.7)) {
      const id = 1 + random.integer(ROWS);
      const path = `/v1/datasets/${random.chance(0.1) ? "0" : ""}${id}${random.chance(0.1) ? "/" : ""}${caller.query}`;
      const answer = await ask(port, path, { headers: caller.headers });
      const states = between(id, t0, performance.now());
      if (answer.status === 200) count.shown++;
      const why = judgeDataset(caller, answer, states);
      if (why !== undefined) violations.push(`${path} as ${caller.user ?? "nobody"}: ${why}`);
      return;
    }
    const path = `${random.pick(["/v1/datasets/list", "/v1/data/list/limit/100"])}${caller.query}`;
    const answer = await ask(port, path, { headers: caller.headers });
    const t1 = performance.now();
    const why = judgeList(caller, answer, (id) => between(id, t0, t1));
    if (why !== undefined) violations.push(`${path} as ${caller.user ?? "nobody"}: ${why}`);
  };
  const tag = async () => {
    const caller = pickCaller(context);
    const id = 1 + context.random.integer(ROWS);
    const headers = { ...caller.headers, "Content-Type": "application/json" };
    const body = JSON.stringify({ data_id: id, tag: "a" });
    const t0 = performance.now();
    const answer = await ask(port, `/v1/datasets/tag${caller.query}`, { method: "POST", headers, body });
    if (answer.status === 200) count.tags++;
    const why = judgeTag(caller, answer, between(id, t0, performance.now()));
    if (why !== undefined) violations.push(`a tag of ${id} as ${caller.user ?? "nobody"}: ${why}`);
  };
  await inParallel(REQUESTS / STAGES.length, CALLERS, async () => {
    if (violations.length > 200 || !isAlive()) return;
    if (context.random.chance(0.03)) await edit();
    else await (context.random.chance(0.1) ? tag() : read());
  });
  const { reads, shown, writes, tags } = count;
  const about = `${reads} reads (${shown} of them shown a dataset), ${writes} writes, ${tags} tags`;
  const isMuch = shown > reads / 10 && writes > reads / 200 && tags > reads / 200;
  return [
    holds(`requests in ${stage.stage}`, about, "many of each", isMuch),
    none(`leaks, stale reads, lost rows and tags of strangers in ${stage.stage}`, violations),
    holds("the process", isAlive() ? "alive" : "ended", "alive", isAlive()),
  ];
};

const pickCaller = ({ random }: Pick<Context, "random">): Caller => {
  const who = random.pick(["nobody", "nobody", "ann", "bob", "admin", "carol", "stranger", "twoKeys"] as const);
  const caller: Caller = { user: undefined, isRefused: false, headers: {}, query: "" };
  if (random.chance(0.15))
    caller.headers["Cache-Control"] = random.pick(["no-cache", "no-store", "max-age=0", "max-stale=1000"]);
  if (who === "nobody") return caller;
  if (who === "twoKeys")
    return { ...caller, isRefused: true, query: `?api_key=${users.ann}`, headers: { "X-API-Key": users.bob } };
  const key = who === "stranger" ? STRANGER : users[who];
  const user = who === "stranger" ? undefined : who;
  const isRefused = who === "stranger";
  const by = random.integer(3);
  if (by === 0) return { ...caller, user, isRefused, query: `?api_key=${key}` };
  const headers = { ...caller.headers, ...(by === 1 ? { "X-API-Key": key } : { Authorization: `Bearer ${key}` }) };
  return { ...caller, user, isRefused, headers };
};

const isPublic = ({ headers }: Answer): boolean => /\bpublic\b/.test(headers["cache-control"] ?? "");

const judgeDataset = ({ user, isRefused }: Caller, answer: Answer, states: Interval[]): string | undefined => {
  if (isRefused) return answer.status === 401 ? undefined : `a refused key was answered ${answer.status}`;
  if (answer.status === 403) return states.every((row) => isShown(user, row)) ? "denied what it may see" : undefined;
  if (answer.status !== 200) return `status ${answer.status}`;
  const json = jsonOf(answer) as { name?: unknown; citation?: unknown };
  const row = rowOfName(json.name);
  const state = states.find(({ version }) => version === row?.version);
  if (row === undefined || state === undefined) return `stale: ${String(json.name)}`;
  if (!isShown(user, state)) return `a leak: ${String(json.name)}`;
  if (![`for all`, `for ${user}`].includes(String(json.citation))) return `an answer made ${String(json.citation)}`;
  if (isPublic(answer) && (user !== undefined || row.visibility === "private")) return "publicly cacheable";
  return undefined;
};

const judgeTag = ({ user, isRefused }: Caller, answer: Answer, states: Interval[]): string | undefined => {
  if (isRefused || user === undefined) return answer.status === 401 ? undefined : `answered ${answer.status}`;
  if (answer.status === 403) return states.every((row) => isShown(user, row)) ? "denied what it may see" : undefined;
  if (answer.status !== 200) return `status ${answer.status}`;
  return states.some((row) => isShown(user, row)) ? undefined : "it wrote what it may not see";
};

const judgeList = (
  { user, isRefused }: Caller,
  answer: Answer,
  between: (id: number) => Interval[],
): string | undefined => {
  if (isRefused) return answer.status === 401 ? undefined : `a refused key was answered ${answer.status}`;
  if (answer.status !== 200 && answer.status !== 404) return `status ${answer.status}`;
  const rows = answer.status === 200 ? (jsonOf(answer) as { did: number; name: unknown }[]) : [];
  const seen = new Set<number>();
  for (const { did, name } of rows) {
    seen.add(did);
    const row = rowOfName(name);
    const state = between(did).find(({ version }) => version === row?.version);
    if (row === undefined || state === undefined) return `a stale row: ${String(name)}`;
    if (!isListed(user, state)) return `a leaked row: ${String(name)}`;
  }
  for (let id = 1; id <= ROWS; id++)
    if (!seen.has(id) && between(id).every((row) => isListed(user, row))) return `row ${id} is lacking`;
  if (seen.size !== rows.length) return "a row stands twice";
  return isPublic(answer) && user !== undefined ? "publicly cacheable" : undefined;
};
