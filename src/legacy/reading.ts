import { isUtf8 } from "node:buffer";
import { decodeHTMLStrict } from "entities/decode";
import { own } from "../rules/compose.ts";
import { isObject, type Json, type JsonObject } from "../rules/rule.ts";
import type { XmlReader } from "./xml.ts";

/** What a legacy answer turned out to be. */
export type LegacyReading =
  | { is: "document"; document: JsonObject; form: "json" | "xml" }
  | { is: "error"; code: number; message: string; additional?: string }
  | { is: "unreadable"; why: string; empty?: true };

/** Reads a legacy body by what it is, not by what its content type says. `body` is UTF-8. */
export const readLegacy = (body: Buffer, readXml: XmlReader): LegacyReading => {
  if (!isUtf8(body)) return { is: "unreadable", why: "it is not UTF-8" };
  const text = body.toString("utf8").trimStart();
  if (text === "") return { is: "unreadable", why: "it is empty", empty: true };
  // PHP's HTML blocks are well-formed now and then: only legacy's own elements are its XML.
  const form = text.startsWith("{") ? "json" : /^(<\?xml[^>]*>\s*)?<oml:/.test(text) ? "xml" : undefined;
  if (form === undefined) return { is: "unreadable", why: "it is neither JSON nor legacy's XML" };
  const document = form === "json" ? parseJson(text) : readXml(text);
  if (!isObject(document))
    return { is: "unreadable", why: `its ${form === "json" ? "JSON" : "XML"} is not well-formed` };
  return readError(document, form) ?? { is: "document", document, form };
};

const parseJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};

const readError = (document: JsonObject, form: "json" | "xml"): LegacyReading | undefined => {
  const error = own(document, "error");
  if (error === undefined || Object.keys(document).length !== 1) return undefined;
  const code = isObject(error) ? own(error, "code") : undefined;
  if (!isObject(error) || typeof code !== "string" || !/^\d{1,6}$/.test(code))
    return { is: "unreadable", why: `its ${form} error has no code` };
  const additional = told(own(error, "additional_information"));
  return {
    is: "error",
    code: Number(code),
    message: told(own(error, "message")) ?? "",
    ...(additional === undefined ? {} : { additional }),
  };
};

/** Legacy encodes what it tells once more than its format asks for. */
const told = (text: Json | undefined): string | undefined =>
  typeof text === "string" && text !== "" ? decodeHTMLStrict(text).trim() : undefined;
