import type { RequestListener } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";

/** What answers requests by this app. */
export const consoleListener = (app: Hono): RequestListener => {
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false, hostname: "localhost" });
  return (request, response) => void answer(request, response);
};
