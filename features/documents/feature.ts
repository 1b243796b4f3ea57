import { isReadMethod, pathOf } from "../../src/catalogue/index.ts";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { type Core, corsList, isBelow, problemTypes, sendWhole, type Step } from "../../src/gateway/index.ts";
import { apiCatalog, CATALOG_LINK, CATALOG_PATH, documentLinks, OPENAPI_TYPE } from "./apiCatalog.ts";
import { type HttpExchange, threadEnvironment } from "../../src/operation/index.ts";
import type { OpenApiThreadData } from "./openApiThread.ts";
import { openResource, type Resource, type SendResource } from "./resource.ts";
import type { DocumentsSettings } from "./settings.ts";

/**
 * Serves descriptions of the new interface: for people, for generators of clients, for those who know only the domain.
 */
const open = (core: Core, settings: DocumentsSettings) => {
  const { PREFIXES: prefixes, CORS_ORIGINS: origins } = settings;
  const bases = prefixes.map(baseOf);
  const routes = routesOf(core, prefixes);
  const step: Step = (request, response, next) => {
    const send = isReadMethod(request.method) ? routes.get(pathOf(request.url ?? "/")) : undefined;
    if (send === undefined) return next();
    const cors = corsList(origins, request.headers.origin);
    send(request, response, cors).catch((error: unknown) => core.guard.fail(response, error));
  };
  return {
    step,
    documents: {
      linksOf(path: string) {
        const prefix = prefixes.find((configured) => configured !== "/" && isBelow(path, configured));
        return prefix === undefined ? undefined : documentLinks(prefix);
      },
      paths: documentPaths,
    },
    legacyHeaders: ({ url = "" }: HttpExchange) => (pathOf(url) === "/" ? catalogLink : undefined),
    start: () =>
      Promise.resolve({ line: `the new interface is described at ${bases[0]}/docs and ${bases[0]}/openapi.json` }),
  };
};

const baseOf = (prefix: string): string => (prefix === "/" ? "" : prefix);

/** Leads people who know only the domain from legacy's page to the catalogue. */
const catalogLink = ["Link", CATALOG_LINK];

/** The fragments of the `type` URIs of problems. */
const problemSlugs = Object.values(problemTypes).map(({ slug }) => slug);

/** The documents below each prefix. */
const documentPaths = ["/openapi.json", "/docs", "/problems", ...problemSlugs.map((slug) => `/problems/${slug}`)];

/** All paths that lead to a document. */
const routesOf = (core: Core, prefixes: readonly string[]): ReadonlyMap<string, SendResource> => {
  const routes = new Map<string, SendResource>();
  const files = viewerFiles.map((name) => ({ name, send: openResource(() => viewerFile(name)) }));
  for (const prefix of prefixes) {
    const base = baseOf(prefix);
    /** Adds a path with and without a slash at its end, as all paths of the new interface have it. */
    const add = (path: string, make: () => Promise<Resource>): void => {
      const send = openResource(make);
      routes.set(base + path, send).set(`${base}${path}/`, send);
    };
    add("/openapi.json", () => openApiOf(prefix, core));
    add("/docs", async () => (await import("./viewerPage.ts")).viewerPage(base, documentLinks(base)));
    for (const { name, send } of files) routes.set(`${base}/docs/${name}`, send);
    add("/problems", async () => {
      const { problemPage } = await import("./problemPage.ts");
      return problemPage({ base, errors: core.catalogue.errors, link: documentLinks(base) });
    });
    const redirect = (from: string, to: string): void => {
      const send = redirectTo(to, documentLinks(base));
      routes.set(from, send).set(`${from}/`, send);
    };
    for (const slug of problemSlugs) redirect(`${base}/problems/${slug}`, `${base}/problems#${slug}`);
    if (base !== "") redirect(base, `${base}/docs`);
  }
  return routes.set(
    CATALOG_PATH,
    openResource(() => apiCatalog(prefixes.map(baseOf))),
  );
};

/** The files that the viewer's page loads, by their names below it. */
const viewerFiles = ["swagger-ui.css", "swagger-ui-bundle.js", "viewer.css", "viewer.js"];

const viewerFile = async (name: string): Promise<Resource> => {
  const isOwn = name.startsWith("viewer");
  const url = isOwn
    ? new URL(`viewer/${name}`, import.meta.url)
    : import.meta.resolve(`#vendor/swagger-ui-dist/${name}`);
  const type = `text/${name.endsWith(".css") ? "css" : "javascript"}; charset=utf-8`;
  const file = await readFile(new URL(url));
  const body = name === "swagger-ui.css" ? inOurTypeface(file.toString()) : file;
  return { body, type, headers: ["Cache-Control", "public, max-age=3600"] };
};

/** The viewer's styles with the fonts of our other pages. */
const inOurTypeface = (style: string): string =>
  style
    .replaceAll("font-family:sans-serif", "font-family:system-ui,sans-serif")
    .replaceAll(/font-family:monospace(?!,)/g, "font-family:ui-monospace,Menlo,Consolas,monospace");

/** Makes the document in a thread: it would block the event loop for too long. */
const openApiOf = async (prefix: string, { catalogue: { module } }: Core): Promise<Resource> => {
  if (module === undefined) throw new Error("openapi.json is made of the catalogue's `module`, and it has none");
  const workerData: OpenApiThreadData = { module, prefix };
  const worker = new Worker(new URL(`./openApiThread${extname(import.meta.url)}`, import.meta.url), {
    workerData,
    env: threadEnvironment,
  });
  worker.unref();
  const ended = new AbortController();
  worker.once("exit", () => ended.abort());
  // Rejects if the thread fails, or ends without a message.
  const [body] = (await once(worker, "message", { signal: ended.signal })) as [string];
  return {
    type: OPENAPI_TYPE,
    body,
    headers: ["Cache-Control", "public, max-age=300", "Link", documentLinks(baseOf(prefix))],
  };
};

/** Sends a client to another place. `link`: the value of its `Link`. */
const redirectTo =
  (location: string, link: string): SendResource =>
  (_, response, cors) => {
    const headers = ["Location", location, "Content-Length", "0", "Link", link, ...cors];
    sendWhole(response, { status: 302, headers, body: undefined });
    return Promise.resolve();
  };

export const feature = { open };
