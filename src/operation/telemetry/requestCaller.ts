import type { IncomingMessage } from "node:http";
import { type Credential, keysGiven, queryOf, readCredential } from "../../catalogue/index.ts";
import { clientAddress } from "../network/addresses.ts";

/** The parts of a request that identify its caller. */
type CallerSource = {
  target: string;
  /** The value of a header, all of its lines joined by commas. */
  header: (name: string) => string | undefined;
  remoteAddress: string | undefined;
  forwardedFor: string | undefined;
};

/** The caller of a request. Each member is computed when it is first needed: most requests need one member or none. */
export class RequestCaller {
  readonly #source: CallerSource;
  readonly #trusted: (address: string) => boolean;
  #address: string | undefined;
  #credential: Credential | undefined;
  #keys: readonly string[] | undefined;

  /** `trusted`: true if a peer's `X-Forwarded-For` is trusted. */
  constructor(source: CallerSource, trusted: (address: string) => boolean) {
    this.#source = source;
    this.#trusted = trusted;
  }

  /** The client's address, as trusted proxies report it. */
  get address(): string {
    const { remoteAddress, forwardedFor } = this.#source;
    return (this.#address ??= clientAddress(remoteAddress, forwardedFor, this.#trusted));
  }

  /** The key, as the new interface reads it. */
  get credential(): Credential {
    const { target, header } = this.#source;
    return (this.#credential ??= readCredential(queryOf(target), header));
  }

  /** All keys of the request, valid or not, which a log must not show. */
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

/** The value of a header, all of its lines joined by commas: `headers` keeps only the first line of some. */
export const headerOf = (incoming: IncomingMessage, name: string): string | undefined =>
  incoming.headers[name] === undefined ? undefined : incoming.headersDistinct[name]?.join(", ");
