import { hash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";

/** What of a request to the operators' listener decides whether it is let in. */
export type Visitor = {
  method: string;
  host: string | undefined;
  /** The host in the target of the request, which is another than `host` in the absolute form (RFC 9112 3.2.2). */
  target: string;
  origin: string | undefined;
  fetchSite: string | undefined;
  authorization: string | undefined;
  contentType: string | undefined;
};

/** Why a visitor is not let in. */
export type Refusal = { status: 401 | 403 | 415; detail: string };

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/** A name that a page of somebody else's could have pointed here is none of ours. */
const isOurName = (host: string | undefined, own: string): boolean => {
  const name = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(host ?? "")?.[1]?.toLowerCase() ?? "";
  return name === own.toLowerCase() || name === "localhost" || isIP(name.replace(/^\[|\]$/g, "")) !== 0;
};

/** No page that an operator visits may reach the listener: not by a name of its own, not from its origin, not by a form. */
export const guard =
  ({ host: own, token }: { host: string; token?: string | undefined }) =>
  ({ method, host, target, origin, fetchSite, authorization, contentType }: Visitor): Refusal | undefined => {
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
