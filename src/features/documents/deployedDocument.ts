import type { ErrorDialect } from "../../http/problemDetails.ts";
import type { JsonObject } from "../../rules/rule.ts";

/** What a deployment's document says otherwise than the file. */
export type Deployment = { prefix: string; dialect: ErrorDialect; isRateLimited: boolean };

/** The prefix that the file is made for. */
const FILE_PREFIX = "/v1";

type Response = { content?: JsonObject };
type Document = {
  servers: JsonObject[];
  paths: Record<string, Record<string, { responses: JsonObject }>>;
  components: { responses: Record<string, Response> };
};

/** The document of the new interface below a prefix of this deployment. `text`: that of `docs/openapi.json`. */
export const deployedDocument = (text: string, { prefix, dialect, isRateLimited }: Deployment): string => {
  const base = prefix === "/" ? "" : prefix;
  const document = JSON.parse(text.replaceAll(`"${FILE_PREFIX}/problems/`, `"${base}/problems/`)) as Document;
  document.servers = [{ url: prefix }];
  if (dialect === "problem")
    for (const response of Object.values(document.components.responses)) preferProblem(response);
  if (!isRateLimited) {
    delete document.components.responses["429"];
    for (const methods of Object.values(document.paths))
      for (const { responses } of Object.values(methods)) delete responses["429"];
  }
  return JSON.stringify(document);
};

/** Viewers show the first media type. */
const preferProblem = (response: Response): void => {
  const problem = response.content?.["application/problem+json"];
  if (problem !== undefined) response.content = { "application/problem+json": problem, ...response.content };
};
