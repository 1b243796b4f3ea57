import { type SampleAnswer, page, scriptAnswer } from "./answers.ts";
import type { Call } from "./call.ts";
import { splitsOf } from "./arff.ts";
import { dataFileOf } from "./catalogue.ts";
import { mayRead } from "./documents.ts";

const fileAnswer = (name: string, body: string): SampleAnswer => {
  const { headers } = scriptAnswer(200, "json", body);
  const about = { "Content-Type": "text/plain", "Content-Disposition": `attachment; filename=${name}.arff` };
  return { status: 200, headers: { ...headers, ...about, Vary: "Accept-Encoding, Cookie" }, body };
};

/** The data file or splits at a path that a record names; `undefined` for other paths, and for rows without ARFF. */
export const dataFileFor = (path: string, { datasets, tasks, caller }: Call): SampleAnswer | undefined => {
  const [, kind, digits] = /^\/+(data\/+(?:v1\/+)?download|api_splits\/+get)\/+(\d+)(?:\/|$)/.exec(path) ?? [];
  const id = Number(digits);
  if (kind?.startsWith("api_splits"))
    return tasks.some((task) => task.id === id) ? fileAnswer(`Task_${id}_splits`, splitsOf(id)) : undefined;
  const dataset = datasets.find(({ file_id }) => file_id === id);
  const data = dataset && dataFileOf(dataset);
  if (dataset === undefined || data === undefined) return undefined;
  if (!mayRead(caller, dataset)) return page("script", 403, "Forbidden", "This dataset is private.");
  return fileAnswer(String(id), data);
};
