import type { Dispatcher } from "undici";
import { isHopByHop, namedInConnection } from "../upstream/hopByHop.ts";

/** undici's raw header list -> a flat list for `writeHead`: case, order and repetitions stay, what concerns the connection goes. */
export const replyHeaders = (
  raw: Dispatcher.DispatchController["rawHeaders"],
  connection: string | readonly string[] | undefined,
): string[] => {
  const named = namedInConnection(connection);
  const headers: string[] = [];
  if (!Array.isArray(raw)) return headers; // never with HTTP/1.1
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = latin1(raw[i]);
    if (isHopByHop(name) || named?.has(name.toLowerCase()) === true) continue;
    headers.push(name, latin1(raw[i + 1]));
  }
  return headers;
};

const latin1 = (text: Buffer | string | undefined): string =>
  typeof text === "object" ? text.toString("latin1") : (text ?? "");

/** The reason phrase in the bytes it came in: undici has read them as UTF-8, `writeHead` writes latin1 and takes no control character. */
export const reasonBytes = (text: string): string =>
  /^[\t\x20-\x7e]*$/.test(text)
    ? text
    : Buffer.from(text, "utf8")
        .toString("latin1")
        .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, " ");
