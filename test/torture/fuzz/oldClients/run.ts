import type { ServerResponse } from "node:http";
import { Agent } from "node:http";
import { ask, inParallel } from "../../lib/client.ts";
import { openRandom, type Random } from "../../lib/random.ts";
import { openUpstream } from "../../lib/upstreams.ts";
import { legacyError } from "../legacy.ts";
import { keys, openCatalogue, type Revision, sessionOf } from "./catalogue.ts";
import { type Bounds, judgeOldRead } from "./oracle.ts";

/**
 * Legacy's behaviour in place of an answer. While it is `unwritten`, it is well and no client writes through the
 * gateways, so that answers grow old. It `losesAnswers` to writes only.
 */
const moods = {
  well: undefined,
  unwritten: undefined,
  losesAnswers: undefined,
  resets: (response: ServerResponse) => void response.socket?.destroy(),
  front: (response: ServerResponse) => void response.writeHead(503, { "Content-Type": "text/html" }).end("<p>front"),
  page: (response: ServerResponse) => void response.writeHead(200, { "Content-Type": "text/html" }).end("<p>R1 R2"),
  database: (response: ServerResponse) => {
    const { status, type, body } = legacyError(true, 107, "Database connection error.");
    response.writeHead(status, { "Content-Type": type }).end(body);
  },
};

export type Mood = keyof typeof moods;

type OldClientsOptions = {
  seed: number;
  /** Reads and writes, over all moods. */
  requests: number;
  /** Legacy's moods, one after the other. All requests of a mood are answered before the next begins. */
  moods: readonly Mood[];
  /** Ends the run early where it answers true: a gateway is gone. */
  isOver?: () => boolean;
} & Pick<Bounds, "lag">;

type RunOptions = {
  /** The ports that the gateways have now. */
  gateways: () => readonly number[];
  /** `maxAge` of the bounds; `wasOut`: legacy has failed before. */
  maxAge: (wasOut: boolean) => number;
  /** Called before another mood, with a legacy that is well. */
  between?: () => Promise<void>;
};

/** The counts of a run; `examples` are the first wrong answers. */
export type OldClientsTally = { reads: number; writes: number; cached: number; wrong: number; examples: string[] };

const CLIENTS = 14;
const MAX_EXAMPLES = 10;
const GIVE_UP = 100;
/** Milliseconds that an answer may take. */
const LIMIT = 60_000;

/**
 * A legacy whose datasets change, and old clients who read and write them through gateways; an oracle
 * judges each answer to a read.
 */
export const openOldClients = async (options: OldClientsOptions) => {
  const random = openRandom(options.seed);
  const catalogue = openCatalogue();
  const tally: OldClientsTally = { reads: 0, writes: 0, cached: 0, wrong: 0, examples: [] };
  /** Revisions made by writes whose answers are on their way, by the number that they carry. */
  const made = new Map<string, Revision>();
  let mood: Mood = "well";
  const upstream = await openUpstream((request, response, body) => {
    const instead = moods[mood];
    if (instead !== undefined) return instead(response);
    const { method, url, headers } = request;
    const given = catalogue.answer(method, url, body.toString(), headers.cookie);
    if (given.made !== undefined) made.set(String(headers["x-write"]), given.made);
    if (mood === "losesAnswers" && method !== "GET") return void response.socket?.destroy();
    const { status, type, body: text } = given.answer;
    const send = () => {
      response.writeHead(status, { "Content-Type": type, "Set-Cookie": "ci_session=secret; path=/" }).end(text);
    };
    // Some answers are on their way while others write.
    if (random.chance(0.3)) setTimeout(send, random.integer(10));
    else send();
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const client = () => ({ "X-Forwarded-For": `192.0.2.${random.integer(200)}` });

  const read = async (gateway: number, bounds: Bounds): Promise<void> => {
    const picked = pickRead(random, catalogue.ids().length);
    const sentAt = performance.now();
    const { method, body } = picked;
    const answer = await ask(gateway, picked.path, {
      method,
      ...(body && { body }),
      headers: { ...client(), ...picked.headers },
      agent,
      limit: LIMIT,
    });
    const times = { gateway, sentAt, answeredAt: performance.now() };
    tally.reads++;
    if (answer.headers["cache-status"]?.includes("hit") === true) tally.cached++;
    const allowed = { ...bounds, ...(picked.isOfEngine && { maxAge: Number.POSITIVE_INFINITY }) };
    const why = judgeOldRead(catalogue, { ...picked, ...times }, answer, allowed);
    if (why === undefined) return;
    tally.wrong++;
    const how = String(answer.headers["cache-status"] ?? "passed");
    if (tally.examples.length < MAX_EXAMPLES)
      tally.examples.push(
        `${mood}, ${method} ${picked.path} ${JSON.stringify(picked.headers)}, ${answer.status} ${how}: ${why}`,
      );
  };

  const write = async (gateway: number): Promise<void> => {
    const { method, path, body } = pickWrite(random, catalogue.ids().length);
    const number = String(++tally.writes);
    const headers: Record<string, string> = { ...client(), "X-Write": number };
    if (body !== undefined) headers["Content-Type"] = "application/x-www-form-urlencoded";
    const { status } = await ask(gateway, path, { method, headers, agent, limit: LIMIT, ...(body && { body }) });
    const revision = made.get(number);
    made.delete(number);
    if (revision !== undefined)
      Object.assign(revision, { answeredAt: performance.now(), answeredBy: gateway, isLost: status !== 200 });
  };

  /** Changes a dataset past the gateways. */
  const changeBehind = () => {
    const id = 1 + random.integer(catalogue.ids().length);
    catalogue.change(id, { visibility: random.pick(["public", "public", "public", "private", "gone"]) });
  };

  return {
    upstream,
    async run({ gateways, maxAge, between = async () => {} }: RunOptions): Promise<OldClientsTally> {
      let wasOut = false;
      for (const [at, next] of options.moods.entries()) {
        mood = next;
        const isOut = mood !== "well" && mood !== "unwritten";
        wasOut ||= isOut;
        const bounds = { isOut, maxAge: maxAge(wasOut), lag: options.lag };
        await inParallel(Math.ceil(options.requests / options.moods.length), CLIENTS, async () => {
          if (tally.wrong >= GIVE_UP || options.isOver?.() === true) return;
          const kind = random.number();
          if (kind < 0.03) changeBehind();
          else if (kind < 0.09 && next !== "unwritten") await write(random.pick(gateways()));
          else await read(random.pick(gateways()), bounds);
        });
        mood = "well";
        if (![undefined, next].includes(options.moods[at + 1])) await between();
      }
      agent.destroy();
      return tally;
    },
  };
};

/** The spellings of legacy's path. */
const PATHS = ["/api/v1", "/api/v1", "/api_new/v1", "/index.php/api/v1"];

/** A caller: with a key, with a session (legacy knows some), or without either; an empty key does not count. */
const pickAsker = (random: Random) => {
  const key = random.pick([undefined, undefined, undefined, undefined, "ann", "bob", "reader", "stranger"] as const);
  const session = random.chance(0.2) ? random.pick(["ann", "bob", "nobody"] as const) : undefined;
  const user = session === "nobody" ? undefined : session;
  const query = key === undefined ? random.pick(["", "", "?api_key="]) : `?api_key=${keys[key]}`;
  return { who: key ?? user, mayBeShownMore: (key ?? session) !== undefined, session, query };
};

/**
 * A read of the list, of one of `count` datasets, of a dataset to come, or of an engine's qualities of a dataset. No
 * endpoint has that last read, and it is fresh for long. A caller with a key may read by POST.
 */
const pickRead = (random: Random, count: number) => {
  const { who, mayBeShownMore, session, query } = pickAsker(random);
  const prefix = random.pick(["/json", "/json", "/xml", ""]);
  const id = random.chance(0.3) ? undefined : 1 + random.integer(random.chance(0.2) ? count + 2 : 16);
  const isOfEngine = id !== undefined && random.chance(0.15);
  const record = isOfEngine ? `qualities/${id}/1` : String(id);
  const rest = id === undefined ? random.pick(["list", "list/limit/500", "/list/limit/500/"]) : record;
  const isPosted = query.length > "?api_key=".length && random.chance(0.1);
  const isInForm = isPosted && session === undefined && random.chance(0.5);
  const headers: Record<string, string> = {};
  if (random.chance(0.2)) headers["Accept-Encoding"] = "gzip";
  if (random.chance(0.04)) headers["Cache-Control"] = random.pick(["no-cache", "max-age=0", "no-store", "max-age=1"]);
  if (session !== undefined) headers["Cookie"] = sessionOf(session);
  if (random.chance(0.03)) headers["X-Forwarded-Proto"] = "https";
  if (isInForm) headers["Content-Type"] = "application/x-www-form-urlencoded";
  return {
    method: isPosted ? "POST" : "GET",
    body: isInForm ? query.slice(1) : undefined,
    isOfEngine,
    id,
    who,
    mayBeShownMore,
    form: prefix === "/json" ? ("json" as const) : ("xml" as const),
    path: `${random.pick(PATHS)}${prefix}/data/${rest}${isInForm ? "" : query}`,
    headers,
  };
};

/** A write: mostly of an owner, and to one of the first datasets. */
const pickWrite = (random: Random, count: number) => {
  const who = random.pick(["ann", "ann", "bob", "bob", "reader", "stranger"] as const);
  const kind = random.pick(["tag", "untag", "edit", "edit", "edit", "add", "delete"]);
  const path = `/api/v1/${random.pick(["json", "xml"])}/data`;
  const key = `api_key=${keys[who]}`;
  if (kind === "delete") return { method: "DELETE", path: `${path}/${count - random.integer(4)}?${key}` };
  const form = new URLSearchParams(kind === "add" ? {} : { data_id: String(1 + random.integer(16)) });
  if (kind === "add" || (kind === "edit" && random.chance(0.6)))
    form.set("visibility", random.pick(["public", "public", "public", "private"]));
  const isInQuery = random.chance(0.5);
  if (!isInQuery) form.set("api_key", keys[who]);
  const target = `${path}${kind === "add" ? "" : `/${kind}`}${isInQuery ? `?${key}` : ""}`;
  return { method: "POST", path: target, body: form.toString() };
};
