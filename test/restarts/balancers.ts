import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { freePort } from "../support/freePort.ts";
import { until } from "../support/waiting.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

/** The ports of one gateway. */
export type Ports = { port: number; adminPort: number };

/** A load balancer in front of the gateways; `name` says which, and how it is configured. */
export type Balancer = { name: string; port: number };

/** Checks `/readyz` and never repeats a request. The lines of docs/operate.md, with ports of their own. */
const haproxyConfiguration = (port: number, gateways: readonly Ports[]): string => `
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  retries 0
  no option redispatch
frontend clients
  bind 127.0.0.1:${port}
  default_backend catalogue
backend catalogue
  option httpchk GET /readyz
  default-server check inter 1s fall 2 rise 2
${gateways.map(({ port: at, adminPort }, i) => `  server g${i} 127.0.0.1:${at} check port ${adminPort}`).join("\n")}
`;

/** Twice: with the defaults, and with connections that are used again (the default from 1.29.7 on). It knows of a restart by a failure only. */
const nginxConfiguration = (ports: { plain: number; keepalive: number }, gateways: readonly Ports[]): string => {
  const servers = gateways.map(({ port }) => `server 127.0.0.1:${port};`).join(" ");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((of) => `${of}_temp_path ${of};`);
  return `
daemon off; pid nginx.pid; error_log error.log;
events {}
http {
  access_log off; ${temporary.join(" ")}
  upstream plain { ${servers} }
  upstream reused { ${servers} keepalive 32; }
  server { listen 127.0.0.1:${ports.plain}; location / { proxy_pass http://plain; } }
  server {
    listen 127.0.0.1:${ports.keepalive};
    location / { proxy_pass http://reused; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
`;
};

const started = new Set<ChildProcess>();

/** Ends every balancer. */
export const stopBalancers = (): void => {
  for (const child of started) child.kill("SIGTERM");
};

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
      .on("error", () => resolve(false))
      .on("connect", () => {
        socket.destroy();
        resolve(true);
      });
  });

const startOne = async (command: string[], cwd: string, port: number): Promise<void> => {
  const child = spawn(command[0] as string, command.slice(1), { cwd, stdio: ["ignore", "ignore", "pipe"] });
  started.add(child);
  let error = "";
  child.stderr.on("data", (chunk: Buffer) => (error = (error + chunk.toString()).slice(-2000)));
  child.on("error", (failure) => (error += failure.message));
  child.once("close", () => started.delete(child));
  await until(async () => (await isOpen(port)) || child.exitCode !== null, 10_000).catch(() => undefined);
  if (!(await isOpen(port))) throw new Error(`${command.join(" ")} does not listen: ${error}`);
};

/** Starts a Redis; gives its URL. */
export const startRedis = async (): Promise<string> => {
  const port = await freePort();
  await startOne(
    ["redis-server", "--port", String(port), "--bind", "127.0.0.1", "--save", ""],
    temporaryFolder(),
    port,
  );
  return `redis://127.0.0.1:${port}`;
};

/** Starts HAProxy and nginx in front of the gateways; `problems` gives what nginx logged besides refused connections. Rejects if they do not listen. */
export const startBalancers = async (
  gateways: readonly Ports[],
): Promise<{ balancers: Balancer[]; problems: () => string[] }> => {
  const directory = temporaryFolder();
  // The balancers may run as another user.
  chmodSync(directory, 0o755);
  const [haproxy, plain, keepalive] = [await freePort(), await freePort(), await freePort()];
  writeFileSync(join(directory, "haproxy.cfg"), haproxyConfiguration(haproxy, gateways));
  mkdirSync(join(directory, "nginx"));
  writeFileSync(join(directory, "nginx/nginx.conf"), nginxConfiguration({ plain, keepalive }, gateways));
  await startOne(["haproxy", "-db", "-f", "haproxy.cfg"], directory, haproxy);
  const prefix = join(directory, "nginx");
  await startOne(["nginx", "-p", prefix, "-e", join(prefix, "error.log"), "-c", "nginx.conf"], directory, plain);
  return {
    balancers: [
      { name: "HAProxy, checks /readyz, retries 0", port: haproxy },
      { name: "nginx, its defaults", port: plain },
      { name: "nginx, keepalive 32", port: keepalive },
    ],
    problems: () =>
      readFileSync(join(prefix, "error.log"), "utf8")
        .split("\n")
        .filter((line) => line.includes("[error]") && !line.includes("Connection refused")),
  };
};
