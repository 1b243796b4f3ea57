import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { freePort } from "../support/freePort.ts";
import { until } from "../support/waiting.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

/** What stands before a gateway: `onePath` sends it the new interface only, `allPaths` everything. Origins. */
export type Proxies = { onePath: string; allPaths: string };

/** A folder for one program, and the program in it until the test ends. Resolves when it listens on these ports. */
const run = async (folder: string, command: string[], environment: Record<string, string>, ports: number[]) => {
  const [program = "", ...args] = command;
  let said = "";
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, ...environment },
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  onTestFinished(async () => {
    const ended = new Promise((resolve) => void child.once("close", resolve));
    child.kill("SIGTERM");
    await ended;
  });
  const listens = (port: number) =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${said}`);
    return (await Promise.all(ports.map(listens))).every(Boolean);
  });
};

/** A copy of a folder of `deploy`, in which the gateway has this address. */
const copyOf = (name: string, files: string[], gateway: string): string => {
  const folder = temporaryFolder();
  const target = join(folder, "catalog-gateway");
  mkdirSync(target);
  cpSync(join("deploy", name), target, { recursive: true });
  for (const file of files) {
    const path = join(target, file);
    writeFileSync(path, readFileSync(path, "utf8").replace("127.0.0.1:8000", gateway));
  }
  return folder;
};

/** The real nginx with the files of `deploy/nginx`. `gateway` and `legacy` are host and port. */
export const startNginx = async (gateway: string, legacy: string): Promise<Proxies> => {
  const folder = copyOf("nginx", ["upstream.conf"], gateway);
  const [one, all] = [await freePort(), await freePort()];
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr;
     events {}
     http {
       access_log off; ${temporary.join(" ")}
       include catalog-gateway/upstream.conf;
       server {
         listen 127.0.0.1:${one};
         include catalog-gateway/one-path.conf;
         location / { proxy_pass http://${legacy}; }
       }
       server { listen 127.0.0.1:${all}; include catalog-gateway/all-paths.conf; }
     }`,
  );
  await run(folder, ["nginx", "-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], {}, [one, all]);
  return { onePath: `http://127.0.0.1:${one}`, allPaths: `http://127.0.0.1:${all}` };
};

/** The real Caddy with the files of `deploy/caddy`. `gateway` and `legacy` are host and port. */
export const startCaddy = async (gateway: string, legacy: string): Promise<Proxies> => {
  const origins = await Promise.all(
    ["one-path", "all-paths"].map(async (name) => {
      const folder = copyOf("caddy", ["forward.Caddyfile"], gateway);
      const port = await freePort();
      const config = join(folder, "Caddyfile");
      writeFileSync(config, `{\n\tadmin off\n}\nimport catalog-gateway/${name}.Caddyfile\n`);
      const environment = { DOMAIN: `http://:${port}`, LEGACY: legacy };
      await run(folder, ["caddy", "run", "--adapter", "caddyfile", "--config", config], environment, [port]);
      return `http://127.0.0.1:${port}`;
    }),
  );
  return { onePath: origins[0] as string, allPaths: origins[1] as string };
};
