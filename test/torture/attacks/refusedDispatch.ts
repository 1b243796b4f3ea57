import { type Attack, allHold } from "../lib/attack.ts";
import { ask, exchange } from "../lib/client.ts";
import type { Program } from "../lib/program.ts";

/** What no upstream can be sent. */
const forms: Record<string, string> = {
  "GET *": "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
  "POST *": "POST * HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
  "GET ftp://x/": "GET ftp://x/ HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET x:80": "GET x:80 HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET http:///a": "GET http:///a HTTP/1.1\r\nHost: a\r\n\r\n",
  "two Host lines": "GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
  "the same Host twice": "GET /x HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
  "two Host lines and a body": "POST /x HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 2\r\n\r\nhi",
  "Host with user": "GET /x HTTP/1.1\r\nHost: a@b\r\n\r\n",
  "list of Hosts": "GET /x HTTP/1.1\r\nHost: one, two\r\n\r\n",
  "Host with path": "GET /x HTTP/1.1\r\nHost: one/../x?y\r\n\r\n",
  "no Host": "GET /x HTTP/1.1\r\n\r\n",
  "two Host lines, new interface": "GET /v1/datasets/61 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
  "Host with user, new interface": "GET /v1/datasets/61 HTTP/1.1\r\nHost: a@b\r\n\r\n",
};

export const refusedDispatch: Attack = {
  name: "refused-dispatch",
  what: "Requests that undici refuses at once; each used to take a connection of the pass-through for good.",
  async run({ startGateway, openUpstream, progress }) {
    const upstream = await openUpstream((_, response) => response.end("ok"));
    const start = () => startGateway({ LEGACY_URL: upstream.url, MAX_CONNECTIONS: "1" });
    let gateway: Program = await start();
    const refused: { name: string; holds: boolean }[] = [];
    const passes: { name: string; holds: boolean }[] = [];
    for (const [name, bytes] of Object.entries(forms)) {
      progress(name);
      const answers = [];
      for (let i = 0; i < 2; i++) answers.push(await exchange(gateway.port, bytes, { limit: 1000 }));
      const isRefused = answers.every(({ status, text }) => status === 400 && text.includes('{"detail":'));
      refused.push({ name, holds: isRefused });
      const good = await ask(gateway.port, "/good", { limit: 2000 });
      passes.push({ name, holds: good.status === 200 });
      if (good.status === 200) continue;
      await gateway.stop();
      gateway = await start();
    }
    return [
      allHold("forms that are answered 400 with a detail", refused),
      allHold("forms after which a GET passes within 2 s, over one connection", passes),
    ];
  },
};
