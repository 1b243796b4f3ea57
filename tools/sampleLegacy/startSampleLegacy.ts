import { http, listen, type Listening } from "../../src/operation/index.ts";
import type { SampleOptions } from "./openSample.ts";

/** A sample server that listens. `load` loads its rows; otherwise the first request waits for them. */
export type SampleLegacy = Listening & { load: () => Promise<unknown> };

type Options = SampleOptions & { host?: string; port?: number };

/**
 * Starts a sample of the legacy server. Port 0: any free port. A given array of `datasets` stays the server's table: a
 * change of the array shows at once, and writes to the server change the array.
 *
 * @throws If it cannot listen on the address.
 */
export const startSampleLegacy = async ({ host, port, ...options }: Options = {}): Promise<SampleLegacy> => {
  let opened: ReturnType<typeof open> | undefined;
  const open = async () => (await import("./openSample.ts")).openSample(options);
  const load = () => (opened ??= open());
  const server = http.createServer((request, response) => {
    load()
      .then((answer) => answer(request, response))
      // A client that leaves in the middle of its body is the only failure here.
      .catch(() => response.destroy());
  });
  return { ...(await listen(server, { host, port })), load };
};
