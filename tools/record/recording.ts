import { isUtf8 } from "node:buffer";
import { type JsonObject, parseJson } from "../../src/catalogue/index.ts";
import { loadSettings } from "../../src/operation/index.ts";
import type { Secrets } from "../../libraries/secrets/secrets.ts";
import type { Catalogue } from "../../src/gateway/index.ts";
import { legacySettings } from "../optionValues.ts";
import { type CapturedExchange, openQuietGateway, type QuietGateway } from "../quietGateway.ts";
import type { Exchange, FixtureAsk } from "../../fixtures/exchange.ts";

/**
 * A legacy that answers with recorded exchanges, at the default path. `unexpected`: the requests without a recorded
 * answer.
 */
export type Replay = { url: string; unexpected: readonly string[]; close(): Promise<void> };

/** A request and its exchanges, scrubbed. `mismatch`: the places that did not fit the endpoint's schema. */
export type Recorded = { ask: FixtureAsk; legacy: Exchange[]; status: number; mismatch: string[] };

/** The reason why a request could not be recorded. */
type RecordingFailed = { failed: string };

/** Records legacy's answers to the gateway. */
export type Recording = Awaited<ReturnType<typeof openRecording>>;

/** `legacy`: legacy's URL. `openReplay` starts a legacy that answers with these exchanges. */
type RecordingSettings = {
  catalogue: Catalogue;
  legacy: string;
  scrub: Secrets;
  openReplay: (exchanges: Exchange[]) => Promise<Replay>;
};

/**
 * Opens a gateway in this process, so that the recorded requests to legacy are exactly those of the gateway.
 *
 * @throws If legacy's URL is not valid.
 */
export const openRecording = async ({ catalogue, legacy, scrub, openReplay }: RecordingSettings) => {
  const gateway = await quietGatewayOf(catalogue, legacy);
  return {
    /** Sends a request to the gateway, and records its exchanges with legacy. */
    async record(ask: FixtureAsk): Promise<Recorded | RecordingFailed> {
      const { status, text, exchanges, mismatch } = await send(gateway, ask);
      const recorded: Exchange[] = [];
      for (const captured of exchanges) {
        const exchange = exchangeOf(captured);
        if ("failed" in exchange) return exchange;
        recorded.push(exchange);
      }
      if (recorded.length === 0 && status >= 500) return { failed: `The key could not be verified: ${text}` };
      return { ...scrub.json({ ask, legacy: recorded }), status, mismatch };
    },
    /**
     * The gateway's answer to the scrubbed exchanges.
     *
     * @throws If it sends legacy other requests, or its answer has another status.
     */
    async answerTo({ ask, legacy: exchanges, status }: Recorded) {
      const replay = await openReplay(exchanges);
      const again = await quietGatewayOf(catalogue, replay.url);
      try {
        const answer = await send(again, ask);
        if (replay.unexpected.length > 0)
          throw new Error(`Scrubbed, it asks legacy for something else: ${replay.unexpected.join(", ")}`);
        if (answer.status !== status)
          throw new Error(`Scrubbed, it is answered ${answer.status} where it was ${status}.`);
        return { status, body: parseJson(answer.text) };
      } finally {
        await again.close();
        await replay.close();
      }
    },
    close: () => gateway.close(),
  };
};

/** A gateway with the default settings but no cache. */
const quietGatewayOf = async (catalogue: Catalogue, url: string): Promise<QuietGateway> => {
  const given = legacySettings(url);
  const loaded = loadSettings(given, catalogue.endpoints);
  if ("errors" in loaded) throw new Error(loaded.errors.join("\n"));
  return openQuietGateway(loaded.settings, catalogue, "catalog-gateway-record");
};

const send = (gateway: QuietGateway, { method, path, key, json }: FixtureAsk) =>
  gateway.ask(
    { method: method === "POST" ? "POST" : "GET", path, ...(json === undefined ? {} : { body: json as JsonObject }) },
    key,
  );

const exchangeOf = ({ request, format, key, reply }: CapturedExchange): Exchange | RecordingFailed => {
  if ("failed" in reply) return { failed: reply.why };
  const { status, contentType, body } = reply;
  if (!isUtf8(body)) return { failed: "The upstream's answer is not UTF-8, which no fixture can hold." };
  const { method, path, form } = request;
  return {
    request: {
      method,
      path: `/${format}${path}`,
      ...(key === undefined ? {} : { key }),
      ...(method === "POST" ? { form: { ...form } } : {}),
    },
    response: {
      status,
      type: contentType.includes("json") ? "json" : contentType.includes("xml") ? "xml" : "html",
      body: body.toString("utf8"),
    },
  };
};
