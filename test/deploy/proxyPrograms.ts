import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../support/freePort.ts";
import { startCommand, startNginx } from "../support/startCommand.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

/** What stands before a gateway: `onePath` sends it the new interface only, `allPaths` everything. Origins. */
export type Proxies = { onePath: string; allPaths: string };

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
export const nginxProxies = async (gateway: string, legacy: string): Promise<Proxies> => {
  const folder = copyOf("nginx", ["upstream.conf"], gateway);
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

/** The real Caddy with the files of `deploy/caddy`. `gateway` and `legacy` are host and port. */
export const caddyProxies = async (gateway: string, legacy: string): Promise<Proxies> => {
  const origins = await Promise.all(
    ["one-path", "all-paths"].map(async (name) => {
      const folder = copyOf("caddy", ["forward.Caddyfile"], gateway);
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
