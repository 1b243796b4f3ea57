import { hash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type Credential, queryOf, readCredential } from "../../catalogue/index.ts";
import { clientAddress } from "../network/addresses.ts";

/**
 * Hashes a key (base64url), so that what knows a caller does not know its key. Legacy ignores the case of keys: all
 * spellings of a key have one hash. The secret decides who else gets the same hash:
 *
 * - A random secret: only this process (`idOfKey`; the cache, verified keys, rate limits, the access log).
 * - The URL of Redis: all gateways that share it, which count a caller's requests together (rate limits).
 * - A stored secret: later processes, since the list of clients outlives a restart (retirement).
 * - A fixed word: each gateway, where a caller has the same bucket. It is one of 100, which hides the key (migration).
 */
export const hashOfKey = (key: string, secret: string): string =>
  hash("sha256", secret + key.toLowerCase(), "base64url");

const secretOfProcess = randomBytes(16).toString("hex");

/** The id of callers with this key, in this process. */
export const idOfKey = (key: string): string => hashOfKey(key, secretOfProcess);

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
  #id: string | undefined;

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

  /** The keys, as the new interface reads them. */
  get credential(): Credential {
    const { target, header } = this.#source;
    return (this.#credential ??= readCredential(queryOf(target), header));
  }

  /** The id of its key (`idOfKey`) or, of several, of the first, valid or not; `undefined`: it has no key. */
  get id(): string | undefined {
    const [key] = this.credential.given;
    if (key !== undefined) this.#id ??= idOfKey(key);
    return this.#id;
  }

  /** Sets the id to that of the key in a form, which is not read here. */
  set id(id: string | undefined) {
    this.#id = id;
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
