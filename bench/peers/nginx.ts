import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../test/support/freePort.ts";
import { start } from "../processes.ts";
import { temporaryFolder } from "../../test/support/temporaryFolder.ts";

const location = (directory: string, what: What): string => {
  if ("body" in what) return `root ${directory}; try_files /answer =404;`;
  const pass = `proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection "";`;
  return "cached" in what
    ? `${pass} proxy_cache kept; proxy_cache_valid 200 1h;`
    : `${pass} proxy_set_header Host $http_host;`;
};

const configuration = (port: number, directory: string, what: What, upstreams: readonly string[]) => `
worker_processes 1; daemon off; pid ${directory}/pid; error_log stderr notice;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000; default_type application/json;
  client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy; fastcgi_temp_path ${directory}/f; uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
  ${"cached" in what ? `sendfile off; open_file_cache max=1000; proxy_cache_path ${directory}/cache keys_zone=kept:10m;` : ""}
  ${upstreams.length === 0 ? "" : `upstream up { ${upstreams.map((url) => `server ${url.replace("http://", "")};`).join(" ")} keepalive 64; keepalive_requests 1000000000; }`}
  server {
    listen 127.0.0.1:${port};
    location / { ${location(directory, what)} }
  }
}`;

type What = { body: Buffer } | { upstreams: readonly string[] } | { cached: string };

/** Starts one worker that answers all requests with these bytes, proxies upstreams in turn, or caches an upstream's answers. */
export const startNginx = async (core: number | undefined, what: What): Promise<{ url: string; pid: number }> => {
  const directory = temporaryFolder();
  if ("body" in what) writeFileSync(join(directory, "answer"), what.body);
  const port = await freePort();
  writeFileSync(
    join(directory, "nginx.conf"),
    configuration(port, directory, what, "body" in what ? [] : "cached" in what ? [what.cached] : what.upstreams),
  );
  // By then it listens.
  const ready = /start worker process/;
  const { child } = await start(
    core,
    ["nginx", "-e", "stderr", "-p", directory, "-c", `${directory}/nginx.conf`],
    ready,
  );
  return { url: `http://127.0.0.1:${port}`, pid: child.pid as number };
};
