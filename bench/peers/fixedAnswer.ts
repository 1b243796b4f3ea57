import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isInstalled, start } from "../processes.ts";
import { temporaryDirectory } from "../temporaryDirectory.ts";
import { startNginx } from "./nginx.ts";

/** Starts the cheapest legacy that answers all requests with these bytes; gives its URL. */
export const startFixedAnswer = async (core: number, body: Buffer): Promise<string> => {
  if (isInstalled("nginx")) return (await startNginx(core, { body })).url;
  const file = join(temporaryDirectory("stub"), "body");
  writeFileSync(file, body);
  const command = [process.execPath, "bench/peers/stub.js"];
  return (await start(core, command, /http:\/\/127\.0\.0\.1:\d+/, { BODY: file })).line;
};
