import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../test/support/temporaryFolder.ts";
import { isInstalled, start } from "../processes.ts";
import { startNginx } from "./nginx.ts";

/** Starts a bare node:http server that answers with these bytes. */
export const startBare = async (
  core: number,
  body: Buffer,
  headers: string[] = ["Content-Type", "application/json"],
  options = {},
) => {
  const file = join(temporaryFolder(), "body");
  writeFileSync(file, body);
  const env = { BODY: file, HEADERS: JSON.stringify(headers), OPTIONS: JSON.stringify(options) };
  const command = [process.execPath, "bench/peers/bare.js"];
  const { child, line } = await start(core, command, /http:\/\/127\.0\.0\.1:\d+/, env);
  return { url: line, pid: child.pid as number, child };
};

/** Starts the cheapest legacy that answers all requests with these bytes; gives its URL. */
export const startFixedAnswer = async (core: number, body: Buffer): Promise<string> =>
  (isInstalled("nginx") ? await startNginx(core, { body }) : await startBare(core, body)).url;
