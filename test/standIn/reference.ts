import type { Endpoint } from "../../src/catalogue/endpoint/endpoint.ts";
import { isObject, type Json, type JsonObject } from "../../src/catalogue/rules/rule.ts";
import { endpoints } from "../../transforms/index.ts";
import type { Answering, Sendable } from "./startStandIn.ts";

type Route = { method: "GET" | "POST"; path: RegExp; shape: (document: Json) => Json };

/**
 * The public reference implementation's routes for eleven endpoints (github.com/openml/server-api, June 2026), and what
 * it makes of our document there. A path parameter is one segment, and an escaped slash parts segments.
 */
const published: Route[] = [
  { method: "GET", path: /^\/datasets\/(?!list$)[^/]+$/, shape: (ours) => dataset(ours) },
  { method: "GET", path: /^\/datasets\/list$/, shape: (ours) => datasetList(ours) },
  { method: "POST", path: /^\/datasets\/list$/, shape: (ours) => datasetList(ours) },
  { method: "POST", path: /^\/datasets\/tag$/, shape: (ours) => textId(ours) },
  { method: "POST", path: /^\/datasets\/untag$/, shape: (ours) => likePhp(textId(ours)) },
  { method: "GET", path: /^\/setup\/[^/]+$/, shape: (ours) => setup(ours) },
  { method: "POST", path: /^\/setup\/(un)?tag$/, shape: (ours) => textId(ours) },
  { method: "GET", path: /^\/studies\/[^/]+$/, shape: (ours) => study(ours) },
  { method: "GET", path: /^\/flows\/exists\/[^/]+\/[^/]+$/, shape: (ours) => ours },
  { method: "GET", path: /^\/estimationprocedure\/list$/, shape: (ours) => ours },
  { method: "GET", path: /^\/evaluationmeasure\/list$/, shape: (ours) => ours },
];

/** Where an endpoint that is not among them is asked: as its definition says, with our document. */
const defined = Object.values<Endpoint>(endpoints).flatMap(({ modern, routes: [first] }): Route[] => {
  const [method, template] = (modern?.route ?? first ?? "").split(" ", 2) as ["GET" | "POST", string];
  const isPublished = published.some((route) => route.method === method && route.path.test(template));
  const path = new RegExp(`^${template.replaceAll(/\{\w+\??\}/g, "[^/]+")}$`);
  return isPublished ? [] : [{ method, path, shape: (ours) => ours }];
});

const routes = [...published, ...defined];

/** Fields that it writes as an empty text where we say `null`. */
const emptyTexts: Record<"dataset" | "study" | "parameter", readonly string[]> = {
  dataset: ["licence", "version_label", "language", "citation", "collection_date", "description", "md5_checksum"],
  study: ["description", "alias"],
  parameter: ["default_value", "value"],
};

const withEmptyTexts = (record: JsonObject, fields: readonly string[]): JsonObject =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, value === null && fields.includes(name) ? "" : value]),
  );

const dataset = (ours: Json): Json =>
  isObject(ours)
    ? {
        ...withEmptyTexts(ours, emptyTexts.dataset),
        description_version: ours["description_version"] ?? 0,
        parquet_url: ours["parquet_url"] ?? null,
      }
    : ours;

const upperCase = (value: Json | undefined): Json => (typeof value === "string" ? value.toUpperCase() : null);

/** The formats as they were uploaded, no checksums, and ten qualities. */
const datasetList = (ours: Json): Json =>
  Array.isArray(ours)
    ? ours.map((row) =>
        isObject(row)
          ? {
              ...row,
              format: upperCase(row["format"]),
              md5_checksum: "",
              quality: (row["quality"] as Json[]).slice(0, 10),
            }
          : row,
      )
    : ours;

/** A parameter that is NULL is left out. */
const setup = (ours: Json): Json => {
  if (!isObject(ours) || !isObject(ours["setup_parameters"])) return ours;
  const { parameter, ...whole } = ours["setup_parameters"];
  if (!Array.isArray(parameter)) return ours;
  const written = (parameter as JsonObject[]).map(({ data_type: type, ...one }) => ({
    ...withEmptyTexts(one, emptyTexts.parameter),
    ...(type === null ? {} : { data_type: type }),
  }));
  return { setup_parameters: { ...whole, parameter: written } };
};

const study = (ours: Json): Json => {
  if (!isObject(ours)) return ours;
  const { benchmark_suite: _, ...others } = ours;
  return withEmptyTexts(others, emptyTexts.study);
};

/** `{"data_tag": {"id": 61, …}}` -> `{"data_tag": {"id": "61", …}}` */
const textId = (ours: Json): Json =>
  isObject(ours)
    ? Object.fromEntries(
        Object.entries(ours).map(([action, done]) => [
          action,
          isObject(done) ? { ...done, id: JSON.stringify(done["id"]) } : done,
        ]),
      )
    : ours;

/** One tag is a text, and where none is left there is no field. */
const likePhp = (document: Json): Json => {
  const { id, tag } = (document as { data_untag: { id: Json; tag: Json[] } }).data_untag;
  const [only] = tag;
  return { data_untag: { id, ...(tag.length === 0 ? {} : { tag: tag.length === 1 ? (only as Json) : tag }) } };
};

const json = (status: number, document: Json, contentType = "application/json"): Sendable => ({
  status,
  headers: { "content-type": contentType },
  body: Buffer.from(JSON.stringify(document)),
});

const problem = (slug: string, status: number, detail: string, more: JsonObject = {}): Sendable =>
  json(
    status,
    { type: `https://openml.org/problems/${slug}`, title: slug, status, detail, ...more },
    "application/problem+json",
  );

const failed: Sendable = {
  status: 500,
  headers: { "content-type": "text/plain" },
  body: Buffer.from("Internal Server Error"),
};

/** The answers of its framework's router (Starlette). */
const notRouted = json(404, { detail: "Not Found" });
const wrongMethod = json(405, { detail: "Method Not Allowed" });

/** Problems by legacy's code: the slug. Others are called by their code. */
const slugs: Record<string, string> = {
  111: "dataset-not-found",
  112: "dataset-no-access",
  372: "no-results",
  473: "tag-already-exists",
  475: "tag-not-found",
  476: "tag-not-owned",
  103: "authentication-failed",
};

/** Our error -> its own: a problem (RFC 9457) with a sentence for its detail, and a code only where it knows one. */
const errorOf = (path: string, isKeyed: boolean, { status, body }: Sendable): Sendable => {
  const { detail } = JSON.parse(body.toString()) as { detail: Json };
  if (status === 410) return problem("study-legacy", 410, "Legacy studies are no longer supported.");
  if (status === 422 && Array.isArray(detail))
    return problem("validation-error", 422, "Input validation failed.", { errors: detail });
  if (path.startsWith("/flows/exists/") && status === 404)
    return problem("flow-not-found", status, "Flow with this name not found.");
  if (!isObject(detail)) return problem("internal-error", status, JSON.stringify(detail));
  const { code } = detail as { code: string };
  if (code === "601") return problem("study-not-found", 404, "Study with this id or alias not found.");
  if (code === "112" && path.startsWith("/studies/"))
    return isKeyed
      ? problem("study-private", 403, "Study is private.")
      : problem("authentication-required", 401, "Must authenticate for private study.", { code: "103" });
  return problem(slugs[code] ?? `code-${code}`, status, `A sentence of its own about ${code}.`, { code });
};

const LIMIT = 1000;

/** Its lists have at most a thousand rows a page. */
const isBeyondLimit = (path: string, body: Buffer): boolean => {
  if (path !== "/datasets/list" || body.length === 0) return false;
  const { pagination } = JSON.parse(body.toString()) as { pagination?: { limit?: number } };
  return (pagination?.limit ?? 0) > LIMIT;
};

/** Only these does its model of a dataset take; it fails at any other. */
const formats: ReadonlySet<Json | undefined> = new Set(["arff", "sparse_arff", "parquet"]);

/** Answers as the reference implementation does, on its routes alone: what `well` knows, in the reference's shapes. */
export const likeReference =
  (well: Answering, base: string): Answering =>
  async (request, body) => {
    const [target = "", query = ""] = (request.url ?? "").slice(base.length).split("?", 2);
    const decoded = target.replaceAll(/%2f/gi, "/");
    const known = routes.filter(({ path }) => path.test(decoded));
    const route = known.find(({ method }) => method === request.method);
    if (known.length === 0) {
      const isSlashed = routes.some(({ path }) => path.test(decoded.replace(/\/$/, "")));
      return isSlashed
        ? { status: 307, headers: { location: base + target.replace(/\/$/, "") }, body: Buffer.alloc(0) }
        : notRouted;
    }
    if (route === undefined) return wrongMethod;
    // A key is looked for in the query alone.
    for (const name of ["x-api-key", "authorization"]) delete request.headersDistinct[name];
    if (request.method === "POST" && target.endsWith("tag") && !query.includes("api_key="))
      return problem("authentication-required", 401, "No API key provided.", { code: "103" });
    if (isBeyondLimit(target, body)) return problem("validation-error", 422, "Input validation failed.");
    const ours = await well(request, body);
    if (ours.status >= 500) return failed;
    if (ours.status !== 200) return errorOf(target, query.includes("api_key="), ours);
    const shaped = route.shape(JSON.parse(ours.body.toString()) as Json);
    const isOdd = route.path.test("/datasets/1") && isObject(shaped) && !formats.has(shaped["format"]);
    return isOdd ? failed : json(200, shaped);
  };
