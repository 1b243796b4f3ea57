import { requestLine, statusOf } from "./requestLine.ts";
import type { Traffic } from "./traffic.ts";

/** `[time] "request" status`, whatever stands before and after it: the common and the combined format, with a virtual host or without. */
const line = /\[[^\][]{8,60}\] "([^"\\]*(?:\\.[^"\\]*)*)" (\d{3}|-)(?:\s|$)/;

/** A line of an access log -> its request; `undefined` where it is no such line, or its request none. */
export const accessLine = (text: string): Traffic | undefined => {
  const [, written, status] = line.exec(text) ?? [];
  const request = written === undefined ? undefined : requestLine(unquoted(written));
  return request && { ...request, keys: [], ...statusOf(status) };
};

/** What servers write for bytes that would break the line is what an escape in the URL stands for. */
const unquoted = (text: string): string =>
  text.includes("\\")
    ? text.replaceAll(/\\(?:x([0-9A-Fa-f]{2})|(["\\]))/g, (_, byte?: string, quoted?: string) =>
        byte === undefined ? encodeURIComponent(quoted ?? "") : `%${byte}`,
      )
    : text;
