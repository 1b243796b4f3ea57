import { hash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import type { Context, MiddlewareHandler } from "hono";

/** What the guard reads of a request. */
type Visitor = {
  method: string;
  host: string | undefined;
  /** The host in the request target, which may differ from `host` in the absolute form (RFC 9112 3.2.2). */
  target: string;
  origin: string | undefined;
  fetchSite: string | undefined;
  authorization: string | undefined;
  contentType: string | undefined;
};

/** Why a request is refused. */
type GuardRefusal = { status: 401 | 403 | 415; detail: string };

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/** Only our own host, `localhost` and addresses: any other name may be DNS that a foreign page points here (DNS rebinding). */
const isOurName = (host: string | undefined, own: string): boolean => {
  const name = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(host ?? "")?.[1]?.toLowerCase() ?? "";
  return name === own.toLowerCase() || name === "localhost" || isIP(name.replace(/^\[|\]$/g, "")) !== 0;
};

/** Refuses what a foreign page in an operator's browser could send: by a name of its own, from its origin, or by a form. */
const guard =
  ({ host: own, token }: { host: string; token?: string | undefined }) =>
  ({ method, host, target, origin, fetchSite, authorization, contentType }: Visitor): GuardRefusal | undefined => {
    if (!isOurName(host, own) || !isOurName(target, own))
      return { status: 403, detail: "This host name is not the operators' listener's." };
    if (token !== undefined) {
      const given = /^bearer\s+(.*)$/i.exec(authorization ?? "")?.[1] ?? "";
      if (!timingSafeEqual(digest(given), digest(token))) return { status: 401, detail: "A token is needed." };
    }
    if (method === "GET" || method === "HEAD") return undefined;
    const foreign =
      (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) ||
      (fetchSite !== undefined && !["same-origin", "none"].includes(fetchSite));
    if (foreign) return { status: 403, detail: "Requests of other origins change nothing here." };
    if (!/^application\/json\s*(;|$)/i.test(contentType ?? ""))
      return { status: 415, detail: "The body has to be JSON (application/json)." };
    return undefined;
  };

/** Middleware that lets only accepted requests through. Without a token, `GET /` is answered by `signIn`. */
export const guardMiddleware = (
  settings: { host: string; token?: string | undefined },
  signIn: (c: Context) => Promise<Response>,
): MiddlewareHandler => {
  const refusalOf = guard(settings);
  return async (c, next) => {
    c.header("X-Content-Type-Options", "nosniff");
    c.header("Cache-Control", "no-store");
    const header = (name: string) => c.req.header(name);
    const refusal = refusalOf({
      method: c.req.method,
      host: header("host"),
      target: new URL(c.req.url).host,
      origin: header("origin"),
      fetchSite: header("sec-fetch-site"),
      authorization: header("authorization"),
      contentType: header("content-type"),
    });
    if (refusal?.status === 401 && c.req.path === "/" && c.req.method === "GET") return signIn(c);
    if (refusal?.status === 401) c.header("WWW-Authenticate", "Bearer");
    if (refusal) return c.json({ detail: refusal.detail }, refusal.status);
    return next();
  };
};
