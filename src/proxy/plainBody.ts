import { constants, gunzipSync } from "node:zlib";
import type { Beginning } from "./heldAnswer.ts";

/** As much as is unzipped, in bytes. */
const MOST = 1024 * 1024;

/** The beginning of an answer's body as it was before it was zipped for the client; nothing where that cannot be told. */
export const plainBody = ({ headers, body }: Beginning): Buffer => {
  if (headers["content-encoding"] !== "gzip") return body;
  try {
    return gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MOST });
  } catch {
    return Buffer.alloc(0);
  }
};
