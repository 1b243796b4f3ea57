import type { IncomingMessage } from "node:http";

/** Why the length of a request's body cannot be told, as an answer. */
export type FramingRefusal = { status: 400 | 501; detail: string };

const coded: FramingRefusal = {
  status: 501,
  detail: "The only transfer coding of a request that is understood is chunked.",
};
const oldCoded: FramingRefusal = { status: 400, detail: "An HTTP/1.0 request cannot have a Transfer-Encoding." };
const tooLong: FramingRefusal = { status: 400, detail: "The Content-Length is larger than can be sent on." };

/**
 * Refuses what Node's parser takes and undici would send on otherwise than it came: a transfer coding beside chunked
 * (RFC 9112 6.1 and 7) and a length beyond 2^53 - 1, which a number cannot hold. `undefined` where the body can be read.
 */
export const refuseFraming = ({
  headers,
  httpVersion,
}: Pick<IncomingMessage, "headers" | "httpVersion">): FramingRefusal | undefined => {
  const coding = headers["transfer-encoding"];
  if (coding !== undefined) {
    if (httpVersion === "1.0") return oldCoded;
    if (coding.trim().toLowerCase() !== "chunked") return coded;
  }
  const length = headers["content-length"];
  return length === undefined || Number.isSafeInteger(Number(length)) ? undefined : tooLong;
};
