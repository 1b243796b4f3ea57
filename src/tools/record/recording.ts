import { isDeepStrictEqual } from "node:util";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Catalogue } from "../../serve/gateway.ts";
import type { Exchange, FixtureAsk } from "./exchange.ts";
import { openQuietGateway } from "./quietGateway.ts";
import { type LegacyPlace, openRecorder } from "./recorder.ts";
import type { Scrub } from "../../scrub/scrub.ts";

/** A legacy that answers by recorded exchanges, at the usual path; `unexpected` are the questions it has no answer to. */
export type Replay = { url: string; unexpected: readonly string[]; close(): Promise<void> };

/** What one question brought, scrubbed; `mismatch` are the places that did not fit the endpoint's schema. */
export type Recorded = { ask: FixtureAsk; legacy: Exchange[]; status: number; mismatch: string[] };
/** Why there is nothing to record. */
export type RecordingFailed = { failed: string };

export type Recording = {
  /** Asks the gateway, and keeps what it asked legacy. */
  record(endpoint: Endpoint, ask: FixtureAsk): Promise<Recorded | RecordingFailed>;
  /** What the gateway makes of the scrubbed exchanges. */
  expectedOf(recorded: Recorded): Promise<{ status: number; body: unknown; mismatch: string[] } | RecordingFailed>;
  close(): Promise<void>;
};

export type RecordingSettings = {
  catalogue: Catalogue;
  legacy: LegacyPlace;
  scrub: Scrub;
  openReplay: (exchanges: Exchange[]) => Promise<Replay>;
};

/** Puts a gateway before a recorder before legacy, so that what is recorded is what the gateway really requests. */
export const openRecording = async ({
  catalogue,
  legacy: place,
  scrub,
  openReplay,
}: RecordingSettings): Promise<Recording> => {
  const recorder = await openRecorder(place);
  const gateway = openQuietGateway(catalogue, recorder.url, place.path === "" ? "/" : place.path);
  return {
    async record(endpoint, ask) {
      const { status, mismatch } = await gateway.ask(ask);
      const { exchanges, failure } = recorder.taken();
      if (failure !== undefined) return { failed: failure };
      const legacy = exchanges.filter(({ request }) => !isProbe(catalogue, endpoint, request));
      return { ...scrub.json({ ask, legacy }), status, mismatch };
    },
    async expectedOf({ ask, legacy, status }) {
      const replay = await openReplay(legacy);
      const again = openQuietGateway(catalogue, replay.url);
      try {
        const answer = await again.ask(ask);
        if (replay.unexpected.length > 0)
          return { failed: `Scrubbed, it asks legacy for something else: ${replay.unexpected.join(", ")}` };
        if (answer.status !== status)
          return { failed: `Scrubbed, it is answered ${answer.status} where it was ${status}.` };
        return answer;
      } finally {
        await again.close();
        await replay.close();
      }
    },
    async close() {
      await gateway.close();
      await recorder.close();
    },
  };
};

/** A question about the key alone: the handlers answer it for every pair. One endpoint asks the same for itself. */
const isProbe = ({ keyProbes }: Catalogue, endpoint: Endpoint, request: Exchange["request"]): boolean => {
  const { method, path } = keyProbes.reads;
  if (request.method !== method || request.path !== `/json${path}`) return false;
  return !(Object.keys(endpoint.input).length === 0 && isDeepStrictEqual(endpoint.legacy({}), keyProbes.reads));
};
