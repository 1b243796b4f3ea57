import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../support/freePort.ts";
import { until } from "../support/waiting.ts";
import { dockerfile } from "./dockerfile.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const MAX_IMAGE_BYTES = 300e6;
const BASE = "docker.io/library/node:26-slim";

type Inspected = {
  Docker: {
    config: { Env: string[]; Entrypoint: string[]; WorkingDir: string; User: string; Labels: Record<string, string> };
  };
};

/** Where the builder keeps its images and containers: in this folder, and nowhere else. */
const builderIn = (folder: string) => {
  const where = ["--storage-driver", "vfs", "--root", join(folder, "images"), "--runroot", join(folder, "run")];
  return (...args: string[]): string =>
    execFileSync("buildah", [...where, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
};

/**
 * A stand-in for the base image, which only a registry of images has: Debian 13, the Node of this checkout and the npm
 * of this machine's registry. Without documentation and translations, as in Debian's slim images.
 */
const makeBase = (folder: string, buildah: ReturnType<typeof builderIn>): void => {
  const root = join(folder, "base");
  const inside = (...command: string[]) => execFileSync("chroot", [root, ...command], { stdio: "ignore" });
  execFileSync("debootstrap", ["--variant=minbase", "--include=libatomic1", "trixie", root], { stdio: "ignore" });
  for (const path of ["usr/share/doc", "usr/share/locale", "usr/share/man", "var/cache/apt", "var/lib/apt/lists"])
    rmSync(join(root, path), { recursive: true });
  inside("groupadd", "-g", "1000", "node");
  inside("useradd", "-u", "1000", "-g", "node", "-m", "node");
  cpSync(process.execPath, join(root, "usr/local/bin/node"), { dereference: true });
  const npm = join(root, "usr/local/lib/node_modules/npm");
  mkdirSync(npm, { recursive: true });
  const packed = execFileSync("npm", ["pack", "--silent", "npm@11", "--pack-destination", folder], {
    encoding: "utf8",
  });
  execFileSync("tar", ["xzf", join(folder, packed.trim()), "-C", npm, "--strip-components=1"]);
  inside("sh", "-c", "ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && chmod +x /usr/local/bin/npm");
  // The registry and the certificates that this machine is set up for.
  mkdirSync(join(root, "usr/local/etc"), { recursive: true });
  mkdirSync(join(root, "etc/ssl/certs"), { recursive: true });
  const certificates = "/etc/ssl/certs/ca-certificates.crt";
  cpSync(certificates, join(root, certificates), { dereference: true });
  const registry = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  writeFileSync(join(root, "usr/local/etc/npmrc"), `registry=${registry}\ncafile=${certificates}\n`);
  const container = buildah("from", "scratch");
  buildah("add", "--quiet", container, root, "/");
  buildah("config", "--env", "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", container);
  buildah("commit", "--quiet", container, BASE);
  rmSync(root, { recursive: true });
};

/** Runs the image's entry point as its user, in its environment, as process 1, without privileges; only /data can be written to. */
const runReadOnly = (root: string, config: Inspected["Docker"]["config"], environment: string[]): ChildProcess => {
  const program = ["setpriv", "--no-new-privs", "env", "-i", "-C", config.WorkingDir, ...config.Env, ...environment];
  const mounts = [
    'mount --bind "$0" "$0"',
    'mount -o remount,bind,ro "$0"',
    'mount -t tmpfs -o uid=1000,gid=1000 tmpfs "$0/data"',
    'exec chroot --userspec="$1" "$0" "${@:2}"',
  ];
  const script = ["bash", "-c", mounts.join(" && "), root, config.User, ...program, ...config.Entrypoint];
  return spawn("unshare", ["--mount", "--pid", "--fork", ...script], { stdio: ["ignore", "inherit", "inherit"] });
};

/** Starts the image the way a container would be, and stops it. Throws where anything is not as it should be. */
const tryImage = async (root: string, config: Inspected["Docker"]["config"]): Promise<void> => {
  const [port, adminPort] = [await freePort(), await freePort()];
  const environment = [`PORT=${port}`, `ADMIN_PORT=${adminPort}`, "DATA_DIR=/data"];
  const isHealthy = () =>
    spawnSync("chroot", [`--userspec=${config.User}`, root, "env", `ADMIN_PORT=${adminPort}`, ...dockerfile.health])
      .status === 0;
  if (isHealthy()) throw new Error("HEALTHCHECK calls a gateway healthy that does not run");
  const container = runReadOnly(root, config, environment);
  const ended = new Promise<number | null>((resolve) => void container.once("close", resolve));
  await until(async () => {
    if (container.exitCode !== null) throw new Error(`the image ended with ${container.exitCode}`);
    return fetch(`http://127.0.0.1:${port}/v1/datasets/61`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  if (!isHealthy()) throw new Error("HEALTHCHECK calls a running gateway unhealthy");
  const first = readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, "utf8").trim();
  process.kill(Number(first), "SIGTERM");
  const code = await ended;
  if (code !== 0) throw new Error(`SIGTERM ended the image with ${code}`);
};

/** Builds the Dockerfile by buildah, runs the result and measures it. Needs root, and what is in Debian's buildah and debootstrap. */
export const checkImage = async (): Promise<string[]> => {
  const folder = temporaryFolder();
  const buildah = builderIn(folder);
  makeBase(folder, buildah);
  const how = ["--isolation", "chroot", "--network", "host", "--pull-never", "--format", "docker", "--quiet"];
  const build = ["--build-arg", `NODE_IMAGE=${BASE}`, "-f", "deploy/Dockerfile", "-t", "catalog-gateway", "."];
  buildah("bud", ...how, ...build);
  const {
    Docker: { config },
  } = JSON.parse(buildah("inspect", "--type", "image", "catalog-gateway")) as Inspected;
  if (!/^[1-9]/.test(config.User)) throw new Error(`the image runs as ${config.User || "root"}`);
  const root = buildah("mount", buildah("from", "--pull-never", "catalog-gateway"));
  await tryImage(root, config);
  const bytes = (path: string) =>
    Number(/^\d+/.exec(execFileSync("du", ["-sb", join(root, path)], { encoding: "utf8" }))?.[0]);
  const [all, app] = [bytes("."), bytes("app")];
  if (all > MAX_IMAGE_BYTES) throw new Error(`the image has ${all} bytes; allowed are ${MAX_IMAGE_BYTES}`);
  const inMegabytes = (count: number) => `${Math.round(count / 1e6)} MB`;
  return [
    `image: built, and run as ${config.User} on a read-only root: serves, is healthy, stops at SIGTERM`,
    `image: ${inMegabytes(all)} of files, of them /app ${inMegabytes(app)} and Node ${inMegabytes(bytes("usr/local/bin/node"))}`,
  ];
};
