import { hash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import type { Context, HonoRequest, MiddlewareHandler } from "hono";

/** The address of the listener, which the guard accepts as a host name, and the token that requests need, if any. */
export type GuardSettings = { host: string; token?: string | undefined };

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/** Only our own host, `localhost` and addresses: a foreign page may have pointed any other name here (DNS rebinding). */
const isOurName = (host: string | undefined, own: string): boolean => {
  const name = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(host ?? "")?.[1]?.toLowerCase() ?? "";
  return name === own.toLowerCase() || name === "localhost" || isIP(name.replace(/^\[|\]$/g, "")) !== 0;
};

/** Refuses requests that a foreign page in an operator's browser could send: by its own host name, from its origin, or by a form. */
const refusalOf = (
  req: HonoRequest,
  { host: own, token }: GuardSettings,
): { status: 401 | 403 | 415; detail: string } | undefined => {
  const host = req.header("host");
  // The host in the request target may differ from the header in the absolute form (RFC 9112 3.2.2).
  if (!isOurName(host, own) || !isOurName(new URL(req.url).host, own))
    return { status: 403, detail: "This host name is not the operators' listener's." };
  if (token !== undefined) {
    const given = /^bearer\s+(.*)$/i.exec(req.header("authorization") ?? "")?.[1] ?? "";
    if (!timingSafeEqual(digest(given), digest(token))) return { status: 401, detail: "A token is needed." };
  }
  if (req.method === "GET" || req.method === "HEAD") return undefined;
  const [origin, site] = [req.header("origin"), req.header("sec-fetch-site")];
  const isForeign =
    (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) ||
    (site !== undefined && !["same-origin", "none"].includes(site));
  if (isForeign) return { status: 403, detail: "Requests of other origins change nothing here." };
  if (!/^application\/json\s*(;|$)/i.test(req.header("content-type") ?? ""))
    return { status: 415, detail: "The body has to be JSON (application/json)." };
  return undefined;
};

/** Middleware that lets only accepted requests through. Without the token, `GET /` is answered by `signIn`. */
export const guardMiddleware =
  (settings: GuardSettings, signIn: (c: Context) => Promise<Response>): MiddlewareHandler =>
  async (c, next) => {
    c.header("X-Content-Type-Options", "nosniff");
    c.header("Cache-Control", "no-store");
    const refusal = refusalOf(c.req, settings);
    if (refusal?.status === 401 && c.req.path === "/" && c.req.method === "GET") return signIn(c);
    if (refusal?.status === 401) c.header("WWW-Authenticate", "Bearer");
    return refusal ? c.json({ detail: refusal.detail }, refusal.status) : next();
  };
