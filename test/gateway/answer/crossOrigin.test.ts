import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Additions } from "../../../src/gateway/answer/additions.ts";
import { EXPOSED_HEADERS } from "../../../src/gateway/http/cors.ts";
import { documentedHeaders } from "../../../libraries/openapi/replyHeaders.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { describeInChromium } from "../../support/browser.ts";
import { listeningGateway } from "../http/support.ts";
import { get, httpUpstream, openProxy, rawUpstream, send } from "../proxy/support.ts";

const legacyPath = "/api/v1/json/data/61";

/** Runs in the page: a request, and what its script may see of the answer. */
const asked = (page: Page, url: string, init: RequestInit = {}) =>
  page.evaluate<{ status: number; headers: Record<string, string>; body: string } | string>(
    `fetch(${JSON.stringify(url)}, ${JSON.stringify(init)}).then(
      async (answer) => ({ status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() }),
      (error) => error.message)`,
  );

describe("a proxied answer", () => {
  const ours = "Deprecation, Link, Retry-After, Sunset, X-Request-Id";
  const shown = "Access-Control-Allow-Origin: *";

  test.each([
    ["without a list of its own", [shown], `Access-Control-Expose-Headers: ${ours}`],
    [
      "with a list of its own",
      [shown, "access-control-EXPOSE-headers: X-Own, link"],
      "access-control-EXPOSE-headers: X-Own, link, Deprecation, Retry-After, Sunset, X-Request-Id",
    ],
    ["with an empty list", [shown, "Access-Control-Expose-Headers: "], `Access-Control-Expose-Headers: ${ours}`],
    [
      "that exposes the same already",
      [shown, `Access-Control-Expose-Headers: ${ours.toLowerCase()}`],
      `Access-Control-Expose-Headers: ${ours.toLowerCase()}`,
    ],
    ["that legacy shows to no other origin", ["X-Own: *"], ""],
  ])("%s exposes our headers once, if at all", async (_, theirs, merged) => {
    const lines = ["HTTP/1.1 200 OK", ...theirs, "Content-Length: 0"];
    const { origin } = await rawUpstream((socket) => socket.write(`${lines.join("\r\n")}\r\n\r\n`));
    const { port } = await openProxy(origin);
    const { head } = await send(port, get("/"));
    expect(head.match(/^.*expose-headers.*$/gim)?.join() ?? "").toBe(merged);
  });
});

test("a page may read every header that the document describes", () => {
  // Those that are always shown, and those that are the browser's own concern.
  const others = new Set(["Cache-Control", "Vary", "Content-Encoding", "Accept-Encoding"]);
  const onErrors = ["Retry-After", "RateLimit", "RateLimit-Policy", "WWW-Authenticate"];
  const described = [...Object.keys(documentedHeaders), ...onErrors].filter(
    (name) => !name.startsWith("Access-Control-") && !others.has(name),
  );
  expect(EXPOSED_HEADERS.split(", ")).toEqual(expect.arrayContaining(described));
});

/** A feature that says that legacy's interface is deprecated. */
const deprecating: Partial<Additions> = {
  legacyHeaders: [
    () => ["Deprecation", "@1767225600", "Sunset", "Tue, 01 Jan 2036 00:00:00 GMT", "Link", "<https://docs.example/>"],
  ],
};

describeInChromium("a page of another origin", (open) => {
  /** A page of its own server, and a gateway in front of the sample legacy whose interface is deprecated. */
  const opened = async (unreachable?: string) => {
    const legacy = await startSampleLegacy();
    onTestFinished(() => legacy.close());
    const { port } = await listeningGateway(unreachable ?? legacy.url, {}, { adding: () => deprecating });
    const page = await open(
      await httpUpstream((_, response) => response.end("<!doctype html><link rel=icon href=data:,>")),
      {
        may: /./,
      },
    );
    return { page, gateway: `http://127.0.0.1:${port}`, legacy: legacy.url };
  };

  test("reads the new interface, and sends it the headers that the documents name", async () => {
    const { page, gateway } = await opened();
    const headers = {
      Accept: "application/problem+json",
      "Gateway-Backend": "legacy",
      "If-None-Match": '"x"',
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      tracestate: "a=1",
      "X-Request-Id": "mine",
      "X-Requested-With": "XMLHttpRequest",
    };
    expect(await asked(page, `${gateway}/v1/datasets/61`, { headers })).toMatchObject({
      status: 200,
      headers: { etag: expect.any(String), "x-request-id": expect.any(String), "cache-status": expect.any(String) },
    });
    const body = JSON.stringify({ limit: 1 });
    const json = { "Content-Type": "application/json" };
    expect(await asked(page, `${gateway}/v1/datasets/list`, { method: "POST", headers: json, body })).toMatchObject({
      status: 200,
    });
  });

  test("reads proxied answers: our headers of them too, the body as legacy's", async () => {
    const { page, gateway, legacy } = await opened();
    const [ours, theirs] = [await asked(page, gateway + legacyPath), await asked(page, legacy + legacyPath)];
    expect(ours).toMatchObject({
      status: 200,
      headers: {
        deprecation: expect.stringMatching(/^@/),
        sunset: expect.stringContaining("2036"),
        link: expect.stringContaining("https://docs.example/"),
        "x-request-id": expect.any(String),
      },
      body: (theirs as { body: string }).body,
    });
    expect(theirs).toMatchObject({ status: 200, headers: expect.not.objectContaining({ link: expect.anything() }) });
  });

  test("reads a refusal in legacy's place", async () => {
    const { page, gateway } = await opened("http://127.0.0.1:9");
    expect(await asked(page, `${gateway}${legacyPath}`)).toMatchObject({
      status: 502,
      headers: { "x-request-id": expect.any(String) },
    });
  });
});
