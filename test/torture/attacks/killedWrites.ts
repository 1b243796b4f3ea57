import { spawn } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { holdsWithin, sleep } from "../../support/waiting.ts";
import { openAccessLegacy, users } from "../lib/accessLegacy.ts";
import { type Attack, type Check, holds } from "../lib/attack.ts";
import { ask, jsonOf } from "../lib/client.ts";
import type { Program } from "../lib/program.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const KILLS = 100;
/** Every so many kills one more, while a gateway starts in a directory that is new. */
const AT_START = 4;
const endpoints = ["getDataset", "getSetup", "getStudy"];

/** What operators wrote, and was acknowledged. */
type Written = {
  /** By endpoint: the number of the last move that was acknowledged, and of the last that was sent. */
  moves: Map<string, { acknowledged: number; sent: number }>;
  /** Ids of expected differences. */
  expected: Set<string>;
};

const post = (adminPort: number, path: string, body: object) =>
  ask(adminPort, path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    limit: 5000,
  });

/** Moves stages and adds expected differences until the gateway is gone. */
const write = async ({ adminPort }: Program, written: Written, round: number): Promise<void> => {
  const move = async (endpoint: string): Promise<void> => {
    const numbers = written.moves.get(endpoint) ?? { acknowledged: 0, sent: 0 };
    written.moves.set(endpoint, numbers);
    for (;;) {
      const number = ++numbers.sent;
      const stage = number % 2 === 0 ? "shadow" : "canary";
      const to = { stage, share: number % 101, why: String(number), despite: "torture" };
      const { status } = await post(adminPort, `/stages/${endpoint}`, to);
      if (status === 0) return;
      if (status === 200) numbers.acknowledged = number;
    }
  };
  const expectDifferences = async (): Promise<void> => {
    const entry = { endpoint: "getDataset", kind: "*", reason: "a kill", owner: "torture", until: "2999-01-01" };
    for (let i = 0; ; i++) {
      const id = `kill-${round}-${i}`;
      const { status } = await post(adminPort, "/expected", { ...entry, id, path: `/a${round}/b${i}` });
      if (status === 0) return;
      if (status === 200) written.expected.add(id);
      await sleep(5);
    }
  };
  await Promise.all([...endpoints.map(move), expectDifferences()]);
};

/** What is missing, or is not what was acknowledged. */
const lost = async ({ adminPort, log }: Program, written: Written): Promise<string[]> => {
  const wrong: string[] = [];
  for (const [endpoint, { acknowledged, sent }] of written.moves) {
    const { why } = jsonOf(await ask(adminPort, `/stages/${endpoint}`)) as { why?: string };
    // Before the first move it is a text.
    const number = Number(why) || 0;
    if (!(number >= acknowledged && number <= sent))
      wrong.push(`${endpoint}: move ${acknowledged} was acknowledged, ${why} is there`);
  }
  const ids = new Set((jsonOf(await ask(adminPort, "/expected")) as { id: string }[]).map(({ id }) => id));
  for (const id of written.expected) if (!ids.has(id)) wrong.push(`expected difference ${id} is gone`);
  if (/unreadable|internal_error|"level":"error"/.test(log())) wrong.push(log().slice(0, 300));
  return wrong;
};

const integrityOf = (file: string): string => {
  const database = new DatabaseSync(file);
  const result = String(database.prepare("PRAGMA integrity_check").get()?.["integrity_check"]);
  database.close();
  return result;
};

export const killedWrites: Attack = {
  name: "killed-writes",
  what: "SIGKILL at any moment, while operators move stages and add expected differences and the private index is written.",
  async run(context) {
    const { url } = await openAccessLegacy(context, 200);
    const directory = temporaryFolder();
    const settingsIn = (name: string) => ({
      LEGACY_URL: url,
      LEGACY_ADMIN_KEY: users.admin,
      PRIVATE_WALK_RATE: "100",
      MODERN_URL: "http://127.0.0.1:9",
      DATA_DIR: join(directory, name),
      LOG_LEVEL: "warn",
    });
    const written: Written = { moves: new Map(), expected: new Set() };
    const wrong: string[] = [];
    const kill = async (program: Program): Promise<void> => {
      const ended = new Promise<void>((resolve) => void program.child.once("exit", () => resolve()));
      program.child.kill("SIGKILL");
      await ended;
    };
    /** Kills a gateway while it makes its directory and starts; then one starts there. */
    const killAtStart = async (name: string): Promise<void> => {
      const env = { PATH: process.env["PATH"], PORT: "0", ADMIN_PORT: "0", ...settingsIn(name) };
      const child = spawn(process.execPath, ["src/main.ts"], { env, stdio: "ignore" });
      const ended = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
      await sleep(100 + context.random.integer(600));
      child.kill("SIGKILL");
      await ended;
      const program = await context.startGateway(settingsIn(name));
      wrong.push(...(await lost(program, { moves: new Map(), expected: new Set() })));
      await kill(program);
    };
    for (let round = 0; round < KILLS; round++) {
      context.progress(`${round} of ${KILLS} kills, ${written.expected.size} differences, ${wrong.length} wrong`);
      if (round % AT_START === 0) await killAtStart(`start-${round}`);
      const program = await context.startGateway(settingsIn("data"));
      wrong.push(...(await lost(program, written)));
      const writing = write(program, written, round);
      await sleep(context.random.integer(800));
      await kill(program);
      await writing;
    }
    const last = await context.startGateway(settingsIn("data"));
    wrong.push(...(await lost(last, written)));
    const isIndexed = async () =>
      (jsonOf(await ask(last.adminPort, "/cache")) as { privateRows?: { state?: string } }).privateRows?.state ===
      "complete";
    const complete = await holdsWithin(isIndexed, 30_000);
    const code = await last.stop();
    const moves = [...written.moves.values()].reduce((sum, one) => sum + one.acknowledged, 0);
    const checks: Check[] = ["migration", "private-rows"].map((name) => {
      const found = integrityOf(join(directory, "data", `${name}.sqlite`));
      return holds(`PRAGMA integrity_check of ${name}.sqlite`, found, "ok", found === "ok");
    });
    return [
      holds(
        `after ${KILLS} kills during writes and ${KILLS / AT_START} during starts`,
        `${moves} moves and ${written.expected.size} differences acknowledged, ${wrong.length} wrong: ${wrong.slice(0, 3).join("; ")}`,
        "all there, every file readable",
        wrong.length === 0 && moves > KILLS && written.expected.size > KILLS,
      ),
      holds("the private index", complete ? "complete" : "not complete", "complete", complete),
      holds("exit code at SIGTERM", String(code), "0", code === 0),
      ...checks,
    ];
  },
};
