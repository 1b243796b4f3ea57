import type { Context, Hono } from "hono";
import type { Html } from "../../../ui/html.ts";
import { adminPage } from "./adminPage.ts";
import type { AdminPageData } from "./adminPageData.ts";
import { contentSecurityPolicy } from "./pageDocument.ts";
import { signInPage } from "./signInPage.ts";

const headers = {
  "Content-Security-Policy": contentSecurityPolicy,
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
  "Cache-Control": "no-store",
};

const sent = (c: Context, page: Html, status: 200 | 401): Response | Promise<Response> =>
  c.html(page, status, { ...headers, ...(status === 401 ? { "WWW-Authenticate": "Bearer" } : {}) });

/** Adds the operators' page, made anew from what is read each time. */
export const pageRoutes = (app: Hono, read: () => AdminPageData | Promise<AdminPageData>): void => {
  app.get("/", async (c) => sent(c, adminPage(await read()), 200));
};

/** A browser cannot give a token when it goes to an address: it is asked for by a page that shows nothing else. */
export const signInRefusal = (c: Context): Response | Promise<Response> => sent(c, signInPage(), 401);
