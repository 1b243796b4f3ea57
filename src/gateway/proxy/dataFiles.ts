import { isDatabaseErrorPage, pathOf } from "../../catalogue/index.ts";
import { decodedBeginning } from "../upstream/answerBeginning.ts";
import { firstValue, mediaType } from "../upstream/answerHeaders.ts";
import type { PassThroughOptions } from "./passThrough.ts";
import { sendOwnError } from "../http/ownErrors.ts";

/**
 * Answers 503 without a body where legacy, without its database, gives a text with status 200 in place of a data file:
 * clients would keep it as their data. `files`: matches the paths of data files.
 */
export const dataFileSubstitutes =
  (files: RegExp): NonNullable<PassThroughOptions["substituteFor"]> =>
  (req, res, target) => {
    const path = pathOf(target);
    const { method = "GET" } = req;
    if (method !== "GET" || !files.test(path)) return undefined;
    return (answer) => {
      if (answer === undefined) return undefined;
      const type = mediaType(answer.headers);
      const contentLength = firstValue(answer.headers, "content-length");
      const length = contentLength === undefined ? undefined : Number(contentLength);
      const beginning = decodedBeginning(answer);
      if (!isDatabaseErrorPage({ method, path, type, length, beginning }, files)) return undefined;
      if (res.destroyed) return undefined;
      sendOwnError(res, { status: 503, detail: "Legacy has no database.", retryAfter: 5 });
      return Promise.resolve(true);
    };
  };
