import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { openSample, type SampleOptions } from "../../../tools/sampleLegacy/openSample.ts";
import { endpoints } from "../../../transforms/index.ts";
import { httpUpstream } from "../proxy/support.ts";

/** A path of the legacy interface for each example of each cached endpoint, in both forms. */
export const samplePaths = (): { name: string; path: string }[] =>
  Object.entries(endpoints).flatMap(([name, endpoint]) => {
    const { cache, examples, input } = endpoint;
    if (cache === undefined) return [];
    const defaults = Object.entries(input).map(([field, { fallback }]) => [field, fallback?.value]);
    return Object.values(examples).flatMap((example) => {
      const request = endpoint.legacy({ ...Object.fromEntries(defaults), ...example } as never);
      if ("unsent" in request || request.method !== "GET") return [];
      return ["json", "xml"].map((form) => ({ name, path: `/api/v1/${form}${request.path}` }));
    });
  });

/**
 * The sample legacy, which sends a session with each answer and refuses `HEAD`; answers are zipped for those who take
 * that. `direct` is the same legacy, past its outage.
 */
export const startSample = async (options: SampleOptions = {}) => {
  const answer = openSample(options);
  const legacy = {
    isDown: false,
    /** Answers, which are made at once, are sent when it resolves. */
    gate: undefined as Promise<void> | undefined,
    seen: [] as IncomingMessage[],
    url: "",
    direct: "",
  };
  const respond = (request: IncomingMessage, response: ServerResponse): void => {
    const isZipped = request.headers["accept-encoding"]?.includes("gzip") ?? false;
    const zipping = {
      writeHead: (status: number, headers: OutgoingHttpHeaders) => ({
        end(body: string) {
          const { "Content-Length": _, ...others } = headers;
          const send = () =>
            response
              .writeHead(status, { ...others, ...(isZipped && { "Content-Encoding": "gzip" }) })
              .end(isZipped ? gzipSync(body) : body);
          void Promise.resolve(legacy.gate).then(send);
        },
      }),
    };
    answer(request, zipping as ServerResponse).catch(() => response.destroy());
  };
  legacy.direct = await httpUpstream(respond);
  legacy.url = await httpUpstream((request, response) => {
    if (!legacy.isDown) legacy.seen.push(request);
    if (legacy.isDown) request.socket.destroy();
    else respond(request, response);
  });
  return legacy;
};
