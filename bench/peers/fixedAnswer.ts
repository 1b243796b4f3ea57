import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../test/support/temporaryFolder.ts";
import { isInstalled, start } from "../processes.ts";
import { startNginx } from "./nginx.ts";

const startPeer = async (core: number, file: string, body: Buffer, env: Record<string, string> = {}) => {
  const path = join(temporaryFolder(), "body");
  writeFileSync(path, body);
  const command = [process.execPath, `bench/peers/${file}`];
  const { child, line } = await start(core, command, /http:\/\/127\.0\.0\.1:\d+/, { BODY: path, ...env });
  return { url: line, pid: child.pid as number, child };
};

/** Starts a bare node:http server that answers with these bytes. */
export const startBare = (
  core: number,
  body: Buffer,
  headers: string[] = ["Content-Type", "application/json"],
  options = {},
) => startPeer(core, "bare.js", body, { HEADERS: JSON.stringify(headers), OPTIONS: JSON.stringify(options) });

/**
 * Starts a bare node:http server that parses these JSON bytes and writes them again for each request; the answer has
 * their new length.
 */
export const startJson = (core: number, body: Buffer) => startPeer(core, "json.js", body);

/** Starts the cheapest legacy, which answers all requests with these bytes; returns its URL. */
export const startFixedAnswer = async (core: number, body: Buffer): Promise<string> =>
  (isInstalled("nginx") ? await startNginx(core, { body }) : await startBare(core, body)).url;
