// The proxy helper of hono in front of UPSTREAM, as its documentation shows it.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { proxy } from "hono/proxy";

const app = new Hono();
app.all("*", (c) => proxy(`${process.env.UPSTREAM}${c.req.path}`, { method: c.req.method, headers: c.req.header() }));
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
  console.log(`listens on http://127.0.0.1:${port}`),
);
