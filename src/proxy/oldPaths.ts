import type { IncomingMessage, ServerResponse } from "node:http";

/** What is done, beside passing it on, with a request for a path that is on its way out. */
export type OldPaths = {
  /** A flat list of headers for whatever is answered to this target, by the upstream or in its place. */
  headers: (target: string) => readonly string[] | undefined;
  /** Answers in the upstream's place; false where the request is to go on. */
  standIn: (req: IncomingMessage, res: ServerResponse, target: string) => boolean;
};
