import { readFile } from "node:fs/promises";
import type { Resource } from "./resource.ts";

const packaged = (file: string) => () => new URL(import.meta.resolve(`swagger-ui-dist/${file}`));
const own = (file: string) => () => new URL(`viewer/${file}`, import.meta.url);

const files = [
  { name: "swagger-ui.css", url: packaged("swagger-ui.css"), type: "text/css; charset=utf-8" },
  { name: "viewer.css", url: own("viewer.css"), type: "text/css; charset=utf-8" },
  { name: "swagger-ui-bundle.js", url: packaged("swagger-ui-bundle.js"), type: "text/javascript; charset=utf-8" },
  { name: "viewer.js", url: own("viewer.js"), type: "text/javascript; charset=utf-8" },
];

/** The files that the page loads, by their names below it. They are read with their first requests. */
export const viewerFiles: readonly { name: string; read: () => Promise<Resource> }[] = files.map(
  ({ name, url, type }) => ({
    name,
    read: async () => ({ body: await readFile(url()), type, headers: ["Cache-Control", "public, max-age=3600"] }),
  }),
);
