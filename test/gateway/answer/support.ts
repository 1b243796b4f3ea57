import { spawn } from "node:child_process";
import { connect } from "node:net";
import { expect, onTestFinished } from "vitest";
import { httpUpstream, request, send } from "../proxy/support.ts";
import { spawnProgram, watchProgram } from "../../support/program.ts";

/** The sample legacy's keys, and an unknown key. */
export const keys = {
  user: "00000000000000000000000000000000",
  owner: "DA1A0000000000000000000000000000",
  reader: "33333333333333333333333333333333",
  unknown: "aBcD0123456789aBcD0123456789aBcD",
};

export const measures = '{"evaluation_measures":{"measures":{"measure":"kappa"}}}';

const tagged = '{"setup_id":1,"tag":"a"}';
export const taggingRequest = [
  request(
    "POST /v1/setup/tag",
    `X-API-Key: ${keys.unknown}`,
    "Content-Type: application/json",
    `Content-Length: ${tagged.length}`,
  ),
  tagged,
] as const;
/** One answer as it came over a socket. */
export const exchange = async (port: number, ...parts: (string | Buffer)[]) => {
  const { head, body, text } = await send(port, ...parts);
  const [line = "", ...rows] = head.split("\r\n");
  const headers = new Map(
    rows.map((row) => [row.split(":", 1)[0]?.toLowerCase(), row.slice(row.indexOf(":") + 1).trim()]),
  );
  return { status: Number(line.split(" ")[1]), headers, body, head, text };
};

/** Checks that an answer has this status and is JSON with only a detail. */
export const expectDetail = (
  {
    status,
    headers,
    body,
  }: { status: number; headers: { get(name: string): string | null | undefined }; body: string },
  expected: number,
): void => {
  expect([status, headers.get("content-type"), body]).toEqual([
    expected,
    "application/json",
    expect.stringMatching(/^\{"detail":/),
  ]);
  expect(Object.keys(JSON.parse(body) as object)).toEqual(["detail"]);
  expect(body).not.toMatch(/<html|<div|<p>|\bat file:/i);
};

/** An upstream that begins to answer at once and ends at `release`. */
export const heldUpstream = async (text = measures) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const asked: string[] = [];
  const url = await httpUpstream((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    response.write(text.slice(0, 5));
    void released.then(() => response.end(text.slice(5)));
  });
  return { url, asked, release };
};

/** The value of a promise, or "too late" if it has not settled after `ms`. */
export const within = <T>(promise: Promise<T>, ms: number): Promise<T | "too late"> =>
  Promise.race([promise, new Promise<"too late">((resolve) => void setTimeout(resolve, ms, "too late"))]);

/** A connection that stays open; `text()` returns the bytes until now. */
export const openConnection = (port: number) => {
  let text = "";
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  const closed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  onTestFinished(() => void socket.destroy());
  return { socket, closed, text: () => text };
};

/** The real program, with its output and its end; it is killed when the test ends. */
export const start = (environment: Record<string, string>, ...args: string[]) => {
  const program = spawnProgram(environment, ...args);
  onTestFinished(() => void program.child.kill("SIGKILL"));
  return program;
};

/**
 * The same as the shell of `npm start` runs it, in a group of processes of its own; `child` is the shell, to
 * which npm passes signals.
 */
export const startByShell = (script: string, environment: Record<string, string> = {}) => {
  const child = spawn("sh", ["-c", script], {
    env: { PATH: process.env["PATH"], PORT: "0", ADMIN_PORT: "0", DRAIN_DELAY_MS: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  onTestFinished(() => {
    try {
      process.kill(-(child.pid as number), "SIGKILL");
    } catch {
      // All of them have ended.
    }
  });
  return watchProgram(child);
};
