/** Causes by the codes of Node, OpenSSL and undici. */
const causes: readonly (readonly [code: RegExp, cause: string])[] = [
  [/^ECONNREFUSED$/, "connection refused, nothing listens on its port"],
  [/^ENOTFOUND$/, "its name does not resolve"],
  [/^EAI_AGAIN$/, "its name does not resolve now: no DNS server answers"],
  [/^E(HOST|NET)UNREACH$/, "no route leads to it"],
  [/^UND_ERR_CONNECT_TIMEOUT$/, "it takes no connections: a firewall drops them, or its machine is down"],
  [/^CERT_HAS_EXPIRED$/, "its certificate has expired"],
  [/^CERT_NOT_YET_VALID$/, "its certificate is not valid yet: is the clock right?"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "its certificate is for another name"],
  [/SELF_SIGNED_CERT|^UNABLE_TO_/, "its certificate is of an authority that is not trusted"],
  [/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/, "it speaks no TLS on this port"],
];

/**
 * The cause for which a server cannot be used, in words by which an operator can act; they name no address.
 * `undefined`: the error has an unknown code. `expiredOn` of an error: the date on which the certificate expired.
 */
export const connectionCause = (error: unknown): string | undefined => {
  const { code, expiredOn } = (error ?? {}) as { code?: unknown; expiredOn?: string };
  const cause = causes.find(([pattern]) => pattern.test(String(code)))?.[1];
  return cause === undefined || expiredOn === undefined ? cause : `${cause}, on ${expiredOn}`;
};

/** The reason of a failure, `it cannot be reached`; and, if known, details by which an operator can act. */
export type Reason = { why: string; details?: string | undefined };

/** `it cannot be reached: its name does not resolve` */
export const describeReason = ({ why, details }: Partial<Reason>): string =>
  [why, details].filter((part) => part !== undefined).join(": ");

/** The reason if a server has not answered since the start: the setting that names it may be wrong. */
export const neverAnswered = ({ why, details }: Reason, setting: string, url: string): Reason => {
  const question = `it has not answered since the start: is ${setting} (${url}) right?`;
  return { why, details: details === undefined ? question : `${details}; ${question}` };
};
