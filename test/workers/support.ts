import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { Agent, request } from "node:http";
import { until } from "../support/waiting.ts";

/** A gateway with workers in processes of their own. */
export type Workers = Awaited<ReturnType<typeof startWorkers>>;

/** Starts the program with workers, and waits until it listens. Its owner stops it. */
export const startWorkers = async (environment: Record<string, string>) => {
  const output = { out: "", error: "" };
  const child = spawn(process.execPath, ["src/main.ts"], {
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      ADMIN_PORT: "0",
      WORKERS: "2",
      DRAIN_DELAY_MS: "0",
      LOG_LEVEL: "info",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.on("data", (chunk: Buffer) => (output.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output.error += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => void child.once("close", resolve));
  await until(() => /workers share/.test(output.out) || child.exitCode !== null);
  const [, url = "", admin = ""] = /listens on (\S+),.*operators: (\S+)/.exec(output.out) ?? [];
  const fromAdmin = async (path: string): Promise<unknown> => (await fetch(admin + path)).json();
  return {
    child,
    output,
    ended,
    url,
    admin,
    port: Number(new URL(url).port),
    fromAdmin,
    toAdmin: (path: string, body: unknown) =>
      fetch(admin + path, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      }),
    /** The values of a metric, by its labels. */
    async metric(name: string): Promise<Record<string, number>> {
      const text = await (await fetch(`${admin}/metrics`)).text();
      const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
      return Object.fromEntries(
        lines.map((line) => [/\{(.*)\}/.exec(line)?.[1] ?? "", Number(line.split(" ").at(-1))]),
      );
    },
    pids: () => childrenOf(child),
    /** The worker that each client is connected to. */
    workersOf(clients: readonly Client[]): (number | undefined)[] {
      const inodes = readInodes(REMOTE);
      const sockets = childrenOf(child).map((pid) => ({ pid, has: socketsOf(pid) }));
      return clients.map((client) => sockets.find(({ has }) => has.has(inodes.get(client.port())))?.pid);
    },
  };
};

/** Columns of `/proc/net/tcp`: the own address, that of the other side, and the inode. */
const [LOCAL, REMOTE, INODE] = [1, 2, 9];

/** Whether a process has the socket that listens on this port of the loopback address. */
export const holdsPort = (pid: number, port: number): boolean => socketsOf(pid).has(readInodes(LOCAL).get(port));

/** The sockets of the loopback address, by the port in this column. The kernel's table is long while tests open many connections. */
const readInodes = (column: number): Map<number, string | undefined> =>
  new Map(
    readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .map((row) => row.trim().split(/\s+/))
      .filter((fields) => fields[column]?.startsWith("0100007F:") && fields[INODE] !== "0")
      .map((fields) => [Number.parseInt(fields[column]?.slice(9) ?? "", 16), fields[INODE]]),
  );

const socketsOf = (pid: number): Set<string | undefined> =>
  new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        // It has been closed meanwhile.
        return [];
      }
    }),
  );

/** The ids of the processes that one has started. */
export const childrenOf = ({ pid }: Pick<ChildProcess, "pid">): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);

export const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

/** What a request is sent with besides its path; a body makes it a POST. */
export type Sent = { key?: string; forwardedFor?: string; json?: unknown; form?: Record<string, string> };
type Answer = { status: number; body: string; headers: NodeJS.Dict<string | string[]> };

/** One client with a connection of its own that stays open. */
export type Client = ReturnType<typeof openClient>;

export const openClient = (url: string) => {
  let port = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (path: string, { key, forwardedFor, json, form }: Sent = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sentBody = json === undefined ? form && String(new URLSearchParams(form)) : JSON.stringify(json);
      const type = json === undefined ? "application/x-www-form-urlencoded" : "application/json";
      const headers = {
        ...(key === undefined ? {} : { "X-API-Key": key }),
        ...(forwardedFor === undefined ? {} : { "X-Forwarded-For": forwardedFor }),
        ...(sentBody === undefined ? {} : { "Content-Type": type, "Content-Length": Buffer.byteLength(sentBody) }),
      };
      const method = sentBody === undefined ? "GET" : "POST";
      const sent = request(url + path, { agent, method, headers }, (response) => {
        let body = "";
        response.on("data", (chunk: Buffer) => (body += chunk.toString()));
        response.once("error", reject);
        response.once("end", () => resolve({ status: response.statusCode ?? 0, body, headers: response.headers }));
      });
      sent.once("error", reject);
      sent.once("finish", () => (port = sent.socket?.localPort ?? port));
      sent.end(sentBody);
    });
  return { ask, port: () => port, close: () => agent.destroy() };
};
