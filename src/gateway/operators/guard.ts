import { hash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import { isReadMethod } from "../../catalogue/index.ts";
import type { Context, HonoRequest, MiddlewareHandler } from "hono";

/** The rules for requests to the operators' listener. */
export type GuardSettings = {
  /** The address of the listener, which requests may name as their host. */
  host: string;
  /** Further host names that requests may name. */
  names?: readonly string[];
  /** The token that every request needs except probes; without it the host's name decides. */
  token?: string | undefined;
  /** The token that `/metrics` accepts beside `token`. */
  metricsToken?: string | undefined;
};

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/** True if the request has one of these tokens. All of them are compared, in constant time. */
const hasToken = (req: HonoRequest, tokens: readonly (string | undefined)[]): boolean => {
  const sentDigest = digest(/^bearer\s+(.*)$/i.exec(req.header("authorization") ?? "")?.[1] ?? "");
  return tokens.filter((token) => token !== undefined && timingSafeEqual(sentDigest, digest(token))).length > 0;
};

/**
 * Only our own names, `localhost` and addresses: a foreign page may have pointed any other name here (DNS rebinding).
 */
const isOurName = (host: string | undefined, own: readonly string[]): boolean => {
  const name = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(host ?? "")?.[1]?.toLowerCase() ?? "";
  return own.includes(name) || name === "localhost" || isIP(name.replace(/^\[|\]$/g, "")) !== 0;
};

type AccessRefusal = { status: 401 | 403 | 415; detail: string };

const needsToken: AccessRefusal = { status: 401, detail: "A token is needed." };

/**
 * The refusal of a request; `undefined` if it may pass. The host's name counts only without a token: a
 * program that knows a token is not a page in an operator's browser.
 */
const accessRefusal = (req: HonoRequest, guard: GuardSettings, names: readonly string[]): AccessRefusal | undefined => {
  const { token, metricsToken } = guard;
  if (isReadMethod(req.method) && ["/healthz", "/readyz"].includes(req.path)) return undefined;
  if (isReadMethod(req.method) && req.path === "/metrics") {
    const isOpen = token === undefined && metricsToken === undefined;
    return isOpen || hasToken(req, [token, metricsToken]) ? undefined : needsToken;
  }
  if (token !== undefined && hasToken(req, [token])) return undefined;
  // The host in the request target may differ from the header in the absolute form (RFC 9112 3.2.2). Not even the form
  // for the token is shown under a foreign name: its page could later read the typed token.
  if (!isOurName(req.header("host"), names) || !isOurName(new URL(req.url).host, names))
    return { status: 403, detail: "This host name is not the operators' listener's: ADMIN_NAMES may have it." };
  return token === undefined ? undefined : needsToken;
};

/** Refuses changes that a foreign page in an operator's browser could ask for: from its origin, or by a form. */
const changeRefusal = (req: HonoRequest): AccessRefusal | undefined => {
  if (isReadMethod(req.method)) return undefined;
  const [host, origin, site] = [req.header("host"), req.header("origin"), req.header("sec-fetch-site")];
  const isForeign =
    (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) ||
    (site !== undefined && !["same-origin", "none"].includes(site));
  if (isForeign) return { status: 403, detail: "Requests of other origins change nothing here." };
  if (!/^application\/json\s*(;|$)/i.test(req.header("content-type") ?? ""))
    return { status: 415, detail: "The body has to be JSON (application/json)." };
  return undefined;
};

/** Answers `GET /` without the token that it needs: a page that asks for it. */
export type SignIn = (c: Context) => Promise<Response>;

/** Middleware that lets only accepted requests through. */
export const guardMiddleware = (guard: GuardSettings, signIn?: SignIn): MiddlewareHandler => {
  const names = [guard.host, ...(guard.names ?? [])].map((name) => name.toLowerCase());
  return async (c, next) => {
    c.header("X-Content-Type-Options", "nosniff");
    c.header("Cache-Control", "no-store");
    const refusal = accessRefusal(c.req, guard, names) ?? changeRefusal(c.req);
    if (signIn && refusal?.status === 401 && c.req.path === "/" && c.req.method === "GET") return signIn(c);
    if (refusal?.status === 401) c.header("WWW-Authenticate", "Bearer");
    return refusal ? c.json({ detail: refusal.detail }, refusal.status) : next();
  };
};
