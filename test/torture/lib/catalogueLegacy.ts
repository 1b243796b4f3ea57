import { legacyAnswer } from "../fuzz/legacy.ts";
import type { Context } from "./attack.ts";
import type { HttpUpstream } from "./upstreams.ts";

const isLegacyPath = /^\/(api|api_new)\/+v1\//;

/** A sound legacy server over the fuzz's catalogue, with the HTML that stands in front of the real one. */
export const catalogueLegacy = ({ openUpstream }: Pick<Context, "openUpstream">): Promise<HttpUpstream> =>
  openUpstream(({ method, url }, response, body) => {
    const html = (status: number) => response.writeHead(status, { "Content-Type": "text/html" }).end("<html>no</html>");
    const [path = ""] = url.split("?", 1);
    if (!isLegacyPath.test(path) || path.includes("..") || path.includes("%2F")) return html(404);
    // CodeIgniter refuses these characters.
    if (/[!*<>+=@;']/.test(path)) return html(400);
    const answer = legacyAnswer(method, url, body.toString("latin1"));
    return response.writeHead(answer.status, { "Content-Type": answer.type }).end(answer.body);
  });
