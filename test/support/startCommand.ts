import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { watchProgram } from "./program.ts";
import { until } from "./waiting.ts";

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });

/** Runs a server in this folder until the test ends. Resolves when it listens on these ports. */
export const startCommand = async (
  folder: string,
  [program = "", ...args]: string[],
  ports: number[],
  environment: Record<string, string> = {},
): Promise<void> => {
  const { child, output, ended, isAlive } = watchProgram(
    spawn(program, args, {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  await until(async () => {
    if (!isAlive()) throw new Error(`${program} ended: ${output.error}`);
    return (await Promise.all(ports.map(isListening))).every(Boolean);
  });
};

/**
 * A real nginx in this folder, with these lines within `http`; it listens on these ports. It logs its
 * errors into `error.log`.
 */
export const startNginx = (folder: string, http: string, ports: number[]): Promise<void> => {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
     events {}
     http { access_log off; ${temporary.join(" ")} ${http} }`,
  );
  const log = join(folder, "error.log");
  return startCommand(folder, ["nginx", "-e", log, "-p", folder, "-c", join(folder, "nginx.conf")], ports);
};
