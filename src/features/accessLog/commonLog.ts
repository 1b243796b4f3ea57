import type { AccessRecord } from "./record.ts";

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (number: number): string => String(number).padStart(2, "0");

let lastSecond = 0;
let lastTime = "";

/** `22/Nov/2026:05:46:53 +0000`; `at`: milliseconds since the epoch. Most lines have the time of the line before. */
const commonTime = (at: number): string => {
  const second = Math.floor(at / 1000);
  if (second === lastSecond) return lastTime;
  lastSecond = second;
  lastTime = formatTime(at);
  return lastTime;
};

const formatTime = (at: number): string => {
  const date = new Date(at);
  const day = `${two(date.getUTCDate())}/${months[date.getUTCMonth()]}/${date.getUTCFullYear()}`;
  return `${day}:${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} +0000`;
};

/** What would end a field or a line, or is no plain character, as Apache writes it: `\x22`. */
const escaped = (text: string): string =>
  text.replaceAll(/[^\x21\x23-\x5b\x5d-\x7e]/g, (character) =>
    Array.from(Buffer.from(character), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join(""),
  );

/**
 * A line of the Common Log Format, `203.0.113.9 - 5c1f… [22/Nov/2026:05:46:53 +0000] "GET /v1/datasets/61 HTTP/1.1" 200 512`: the
 * user is the caller's hash. `at`: when the request came, in milliseconds since the epoch.
 */
export const commonLogLine = (
  { method, path, status, bytes, caller }: AccessRecord,
  { address, httpVersion = "1.1", at }: { address: string | undefined; httpVersion: string | undefined; at: number },
): string => {
  const line =
    method === undefined || path === undefined ? "-" : `${escaped(method)} ${escaped(path)} HTTP/${httpVersion}`;
  return `${address || "-"} - ${caller ?? "-"} [${commonTime(at)}] "${line}" ${status || "-"} ${bytes || "-"}\n`;
};
