import type { IncomingMessage } from "node:http";
import { type Credential, keysGiven, queryOf, readCredential } from "../../catalogue/index.ts";
import { clientAddress } from "../network/addresses.ts";

/** What of a request says who sends it. */
type CallerSource = {
  target: string;
  /** A header's value, all of its lines joined by commas. */
  header: (name: string) => string | undefined;
  remoteAddress: string | undefined;
  forwardedFor: string | undefined;
};

/** Who sends a request. Each member is worked out when it is first needed: most requests need one or none. */
export class RequestCaller {
  readonly #source: CallerSource;
  readonly #trusted: (address: string) => boolean;
  #address: string | undefined;
  #credential: Credential | undefined;
  #keys: readonly string[] | undefined;

  /** `trusted`: says whether a peer's `X-Forwarded-For` is believed. */
  constructor(source: CallerSource, trusted: (address: string) => boolean) {
    this.#source = source;
    this.#trusted = trusted;
  }

  /** The client's address, behind trusted proxies. */
  get address(): string {
    const { remoteAddress, forwardedFor } = this.#source;
    return (this.#address ??= clientAddress(remoteAddress, forwardedFor, this.#trusted));
  }

  /** The key, as the new interface reads it. */
  get credential(): Credential {
    const { target, header } = this.#source;
    return (this.#credential ??= readCredential(queryOf(target), header));
  }

  /** All keys that it has, sound or not, as a log must not show them. */
  get keys(): readonly string[] {
    const { target, header } = this.#source;
    return (this.#keys ??= keysGiven(queryOf(target), header));
  }
}

/** The caller of a request that came over a socket. */
export const callerOfRequest = (request: IncomingMessage, trusted: (address: string) => boolean): RequestCaller =>
  new RequestCaller(
    {
      target: request.url ?? "",
      header: (name) => headerOf(request, name),
      remoteAddress: request.socket.remoteAddress,
      forwardedFor: request.headers["x-forwarded-for"]?.toString(),
    },
    trusted,
  );

/** A header's value, all of its lines joined by commas: of some, `headers` keeps only the first. */
export const headerOf = (incoming: IncomingMessage, name: string): string | undefined =>
  incoming.headers[name] === undefined ? undefined : incoming.headersDistinct[name]?.join(", ");
