import type { LegacyAnswer, LegacyFailed } from "../legacy/client.ts";

/** What legacy's answer to a harmless request shows: whether it is legacy's interface, in plain words, and what to do if not. */
export type LegacyState = { ok: boolean; words: string; advice?: string };

/** `url`: where legacy's interface is, with its path. */
export const describeLegacy = (url: string, reply: LegacyAnswer | LegacyFailed): LegacyState => {
  if ("failed" in reply) {
    const advice = /\([A-Z_]*(CERT|UNABLE_TO)[A-Z_]*\)/.test(reply.why)
      ? "its certificate is not trusted: name its authority's by LEGACY_CA, or correct the host in LEGACY_URL"
      : "is LEGACY_URL right, and is legacy up?";
    return { ok: false, words: `legacy at ${url} gives no answer: ${reply.why}`, advice };
  }
  const { status, contentType, reading, body } = reply;
  const type = contentType.split(";", 1)[0] || "without a type";
  const words = `legacy at ${url} answers ${status} ${type}`;
  if (reading.is === "document" && status === 200) return { ok: true, words };
  if (reading.is === "error")
    return { ok: false, words: `${words}: ${reading.message}`, advice: "look at legacy's log" };
  return { ok: false, words, advice: adviceFor(status, body.toString("latin1", 0, MAX_LOOKED_AT)) };
};

/** Bytes of an answer that are looked at. */
const MAX_LOOKED_AT = 1000;

const adviceFor = (status: number, text: string): string => {
  if (/been through this gateway|the gateway itself/.test(text))
    return "LEGACY_URL leads to the gateway itself: correct it";
  if (status === 401) return "a server before legacy asks for a password: let the gateway pass without one";
  if (status === 403) return "a server before legacy refuses the gateway: is LEGACY_HOST right?";
  if (status >= 300 && status < 400) return "it redirects: are LEGACY_URL (http or https) and LEGACY_HOST right?";
  if (status >= 500) return "legacy fails: look at its log";
  return "is LEGACY_PATH right?";
};
