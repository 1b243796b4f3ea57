import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A file that version 0.1 has written. */
export const earlier = (name: string): string => join(import.meta.dirname, "earlier", name);

/** Commands that give Redis the keys of version 0.1 below `catalog-gateway:1:<part>:`. */
export const earlierCommands = (part: "migration" | "private"): string[] =>
  (JSON.parse(readFileSync(earlier("redis.json"), "utf8")) as string[][])
    .filter(([, key]) => key?.startsWith(`catalog-gateway:1:${part}:`))
    .map(([command, key, ...values]) => [command, key, ...values.map(quoted)].join(" "));

/** As Redis reads it: every byte that is not plain ASCII escaped. */
const quoted = (text: string): string =>
  `"${[...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}"`;
