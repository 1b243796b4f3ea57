import { listeningGateway } from "../../http/support.ts";

/** A gateway that listens and serves its documents, in front of this upstream. */
export const documentedGateway = (url: string, environment: Record<string, string> = {}) =>
  listeningGateway(url, { DOCUMENTS: "true", ...environment });
