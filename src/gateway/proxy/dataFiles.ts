import type { ServerResponse } from "node:http";
import { isDatabaseErrorPage, pathOf } from "../../catalogue/index.ts";
import { decodedBeginning } from "../upstream/answerBeginning.ts";
import { firstValue, mediaType } from "../upstream/answerHeaders.ts";
import type { LegacyWatch } from "../upstream/legacyWatch.ts";
import type { PassThroughOptions } from "./passThrough.ts";
import { sendOwnError } from "../http/ownErrors.ts";

/**
 * Answers a GET of a data file with 503 in two cases: legacy has no database and sends a text with status 200, or
 * legacy fails because it is late. The 503 has no body: clients would save the body as their data. In the second case
 * it is sent at once, because a server in front of the gateway may have a copy. One request in five seconds still goes
 * to legacy. `files`: matches the paths of data files.
 */
export const dataFileSubstitutes = (
  files: RegExp,
  outage: Pick<LegacyWatch, "mayPass">,
): NonNullable<PassThroughOptions["substituteFor"]> => {
  const refuse = (res: ServerResponse, detail: string): void =>
    sendOwnError(res, { status: 503, detail, retryAfter: 5 });
  return (req, res, target) => {
    const path = pathOf(target);
    const { method = "GET" } = req;
    if (method !== "GET" || !files.test(path)) return undefined;
    if (!outage.mayPass()) {
      refuse(res, "Legacy takes too long to answer.");
      return undefined;
    }
    return (answer) => {
      if (answer === undefined) return undefined;
      const type = mediaType(answer.headers);
      const contentLength = firstValue(answer.headers, "content-length");
      const length = contentLength === undefined ? undefined : Number(contentLength);
      const beginning = decodedBeginning(answer);
      if (!isDatabaseErrorPage({ method, path, type, length, beginning }, files)) return undefined;
      if (res.destroyed) return undefined;
      refuse(res, "Legacy has no database.");
      return Promise.resolve(true);
    };
  };
};
