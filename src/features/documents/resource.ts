import type { IncomingMessage, ServerResponse } from "node:http";
import { acceptedCodings, type Coding, compress } from "../../cache/compression.ts";
import { matchesTag, type Representation, tagged } from "../../cache/reply.ts";
import { sendWhole } from "../../http/httpServer.ts";
import { headerOf } from "../../serve/requestInput.ts";

/** A document or a file of the viewer. `headers`: flat, without those that follow from the bytes. */
export type Resource = { body: string | Buffer; type: string; headers: readonly string[] };

/** Answers requests for one resource; `cors` are more headers, flat. Rejects where it cannot be made; the next request tries again. */
export type SendResource = (
  request: IncomingMessage,
  response: ServerResponse,
  cors: readonly string[],
) => Promise<void>;

/** Bytes: a shorter body fits into one packet anyway. */
const MIN_CODED = 860;

/** Makes the resource with its first request, and each coding with the first request that takes it. */
export const openResource = (make: () => Promise<Resource> | Resource): SendResource => {
  let made: Promise<Stored> | undefined;
  const stored = (): Promise<Stored> => {
    made ??= Promise.resolve()
      .then(make)
      .then(store)
      .catch((error: unknown) => {
        made = undefined;
        throw error;
      });
    return made;
  };
  return async (request, response, cors) => {
    const { type, headers, representation, coded } = await stored();
    const { tag } = representation;
    const [coding] = acceptedCodings(headerOf(request, "accept-encoding"));
    const encoded = coding && (await coded(coding));
    const list = [
      "ETag",
      `"${tag}${encoded ? `-${coding}` : ""}"`,
      "Vary",
      "Accept-Encoding",
      "X-Content-Type-Options",
      "nosniff",
      ...headers,
      ...cors,
    ];
    const held = headerOf(request, "if-none-match");
    if (held !== undefined && matchesTag(held, tag)) {
      sendWhole(response, { status: 304, headers: list, body: undefined });
      return;
    }
    const body = encoded ?? representation.body;
    list.push("Content-Type", type, "Content-Length", String(body.length));
    if (encoded) list.push("Content-Encoding", coding);
    sendWhole(response, { status: 200, headers: list, body: request.method === "HEAD" ? undefined : body });
  };
};

type Stored = Pick<Resource, "type" | "headers"> & {
  representation: Representation;
  /** The body in a coding; `undefined` where that is not shorter. */
  coded: (coding: Coding) => Promise<Buffer | undefined>;
};

const store = ({ body, ...about }: Resource): Stored => {
  const representation = tagged({ status: 200, body });
  const codings = new Map<Coding, Promise<Buffer | undefined>>();
  return {
    ...about,
    representation,
    coded(coding) {
      const bytes = representation.body;
      if (bytes.length < MIN_CODED) return Promise.resolve(undefined);
      const known = codings.get(coding) ?? compress(bytes, coding);
      codings.set(coding, known);
      return known;
    },
  };
};
