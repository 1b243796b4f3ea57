import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../test/support/freePort.ts";
import { start } from "../processes.ts";
import { temporaryFolder } from "../../test/support/temporaryFolder.ts";

const location = (directory: string, what: What): string => {
  if ("body" in what) return `root ${directory}; try_files /answer =404;`;
  const pass = `proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection "";`;
  return what.isCached === true
    ? `${pass} proxy_cache kept; proxy_cache_valid 200 1h;`
    : `${pass} proxy_set_header Host $http_host;`;
};

const configuration = (port: number, directory: string, what: What) => `
worker_processes 1; daemon off; pid ${directory}/pid; error_log stderr notice;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000; default_type application/json;
  client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy; fastcgi_temp_path ${directory}/f; uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
  ${"upstream" in what && what.isCached === true ? `sendfile off; open_file_cache max=1000; proxy_cache_path ${directory}/cache keys_zone=kept:10m;` : ""}
  ${"body" in what ? "" : `upstream up { server ${what.upstream.replace("http://", "")}; keepalive 64; keepalive_requests 1000000000; }`}
  server {
    listen 127.0.0.1:${port};
    location / { ${location(directory, what)} }
  }
}`;

type What = { body: Buffer } | { upstream: string; isCached?: true };

/** Starts a worker that answers all requests with these bytes, or proxies an upstream, perhaps with a cache. */
export const startNginx = async (core: number, what: What): Promise<{ url: string; pid: number }> => {
  const directory = temporaryFolder();
  if ("body" in what) writeFileSync(join(directory, "answer"), what.body);
  const port = await freePort();
  writeFileSync(join(directory, "nginx.conf"), configuration(port, directory, what));
  // nginx listens before it writes this line.
  const ready = /start worker process/;
  const { child } = await start(
    core,
    ["nginx", "-e", "stderr", "-p", directory, "-c", `${directory}/nginx.conf`],
    ready,
  );
  return { url: `http://127.0.0.1:${port}`, pid: child.pid as number };
};
