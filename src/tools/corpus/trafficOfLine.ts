import { accessLine } from "./accessLine.ts";
import { jsonLine } from "./jsonLine.ts";
import type { Traffic } from "./traffic.ts";

/** One line of a log or of a list, told apart by what it looks like; `"nothing"` for a blank one or a comment. */
export const trafficOfLine = (line: string): Traffic | "nothing" | undefined => {
  const text = line.trim();
  if (text === "" || text.startsWith("#")) return "nothing";
  return text.startsWith("{") ? jsonLine(text) : (listLine(text) ?? accessLine(text));
};

/** `/v1/datasets/61`, `https://a.example/v1/datasets/61` or `GET /v1/datasets/61`. */
const listLine = (text: string): Traffic | undefined => {
  const [, method = "GET", url] = /^(?:([A-Za-z]{3,10})\s+)?((?:\/|https?:\/\/)\S*)$/i.exec(text) ?? [];
  return url === undefined ? undefined : { method, url, keys: [] };
};
