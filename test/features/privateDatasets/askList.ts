import type { DatasetRow } from "../../../tools/sampleLegacy/catalogueRows.ts";
import { type ListInput, type ListedRow, modelList } from "./model.ts";
import type { Caller } from "./people.ts";

/** The gateway's app, as far as it is asked here. */
type App = { request: (path: string, init?: RequestInit) => Response | Promise<Response> };

export type ListAnswer = { status: number; body: ListedRow[] | { detail: { code: string; message: string } } };

/** A gateway's answer to a request for the list. */
export const askList = async (
  app: App,
  { key }: Caller,
  input: ListInput,
): Promise<ListAnswer & { isIncomplete?: true }> => {
  const response = await app.request("/v1/datasets/list", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(key === undefined ? {} : { "X-API-Key": key }) },
    body: JSON.stringify(input),
  });
  const isIncomplete = response.headers.get("gateway-decision")?.endsWith("; private=incomplete") === true;
  return {
    status: response.status,
    body: (await response.json()) as ListAnswer["body"],
    ...(isIncomplete ? { isIncomplete } : {}),
  };
};

const refused = (status: number, code: string, message: string): ListAnswer => ({
  status,
  body: { detail: { code, message } },
});

/** The right answer when legacy holds these rows. */
export const expectedList = (rows: readonly DatasetRow[], { key, user }: Caller, input: ListInput): ListAnswer => {
  if (key !== undefined && user === undefined) return refused(401, "103", "Authentication failed");
  const answer = modelList(rows, user, input);
  return answer.status === 200 ? answer : refused(404, "372", "No results");
};
