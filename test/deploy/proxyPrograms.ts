import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../support/freePort.ts";
import { startCommand, startNginx } from "../support/startCommand.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

/** The origins of the proxies before a gateway: `onePath` sends it the new interface only, `allPaths` everything. */
export type Proxies = { onePath: string; allPaths: string };

/** A copy of a folder of `deploy`, in which the gateway has this address. */
const copyOf = (name: string, file: string, gateway: string): string => {
  const folder = temporaryFolder();
  const target = join(folder, "catalog-gateway");
  mkdirSync(target);
  cpSync(join("deploy", name), target, { recursive: true });
  replaceIn(join(target, file), "127.0.0.1:8000", gateway);
  return folder;
};

const replaceIn = (path: string, before: string, after: string): void => {
  const text = readFileSync(path, "utf8");
  if (!text.includes(before)) throw new Error(`${path} has no ${before}`);
  writeFileSync(path, text.replace(before, after));
};

/** The real nginx with the files of `deploy/nginx`. `gateway` and `legacy` are host and port. */
export const nginxProxies = async (gateway: string, legacy: string): Promise<Proxies> => {
  const folder = copyOf("nginx", "upstream.conf", gateway);
  const [one, all] = [await freePort(), await freePort()];
  await startNginx(
    folder,
    `include catalog-gateway/upstream.conf;
     server {
       listen 127.0.0.1:${one};
       include catalog-gateway/one-path.conf;
       location / { proxy_pass http://${legacy}; }
     }
     server { listen 127.0.0.1:${all}; include catalog-gateway/all-paths.conf; }`,
    [one, all],
  );
  return { onePath: `http://127.0.0.1:${one}`, allPaths: `http://127.0.0.1:${all}` };
};

/** The real nginx with the configuration that compose.yaml gives it. Its origin. */
export const nginxOfCompose = async (gateway: string): Promise<string> => {
  const folder = copyOf("nginx", "upstream.conf", gateway);
  const port = await freePort();
  const config = readFileSync("deploy/compose.nginx.conf", "utf8");
  const replaced = config.replace("gateway:8000", gateway).replace("listen 80;", `listen 127.0.0.1:${port};`);
  await startNginx(folder, replaced, [port]);
  return `http://127.0.0.1:${port}`;
};

/**
 * The real nginx with `files.conf` beside `all-paths.conf`. Files are fresh for as long as `fresh` says (an nginx
 * time), and lie in `store`; `errorLog` is nginx's.
 * `X-Store` of an answer says what the store had (HIT, MISS, STALE ...); it is missing where the
 * request passed the store by.
 */
export const nginxWithFiles = async (
  gateway: string,
  fresh = "10m",
): Promise<{ url: string; store: string; errorLog: string }> => {
  const folder = copyOf("nginx", "upstream.conf", gateway);
  const store = join(folder, "store");
  replaceIn(join(folder, "catalog-gateway/files-store.conf"), "/var/cache/catalog-gateway-files", store);
  replaceIn(join(folder, "catalog-gateway/files.conf"), "200 10m", `200 ${fresh}`);
  const port = await freePort();
  await startNginx(
    folder,
    `include catalog-gateway/upstream.conf;
     include catalog-gateway/files-store.conf;
     server {
       listen 127.0.0.1:${port};
       add_header X-Store $upstream_cache_status;
       include catalog-gateway/files.conf;
       include catalog-gateway/all-paths.conf;
     }`,
    [port],
  );
  return { url: `http://127.0.0.1:${port}`, store, errorLog: join(folder, "error.log") };
};

/** The real Caddy with the files of `deploy/caddy`. `gateway` and `legacy` are host and port. */
export const caddyProxies = async (gateway: string, legacy: string): Promise<Proxies> => {
  const origins = await Promise.all(
    ["one-path", "all-paths"].map(async (name) => {
      const folder = copyOf("caddy", "forward.Caddyfile", gateway);
      const port = await freePort();
      const config = join(folder, "Caddyfile");
      writeFileSync(config, `{\n\tadmin off\n}\nimport catalog-gateway/${name}.Caddyfile\n`);
      const environment = { DOMAIN: `http://:${port}`, LEGACY: legacy };
      await startCommand(folder, ["caddy", "run", "--adapter", "caddyfile", "--config", config], [port], environment);
      return `http://127.0.0.1:${port}`;
    }),
  );
  return { onePath: origins[0] as string, allPaths: origins[1] as string };
};
