import { hash } from "node:crypto";

/** The sources of a Content-Security-Policy that allow these inline texts alone, each by its hash. */
export const allowedSources = (texts: readonly string[]): string =>
  texts.map((text) => `'sha256-${hash("sha256", text, "base64")}'`).join(" ");
