import { describe, expect, test } from "vitest";
import { EXPOSED_HEADERS, exposeProxied, preflightHeaders } from "../../src/http/cors.ts";
import { documentedHeaders } from "../../src/openapi/replyHeaders.ts";

const ours = "Deprecation, Link, Retry-After, Sunset, X-Request-Id";
const exposed = (...headers: string[]): string[] => {
  const list = [...headers];
  exposeProxied(list);
  return list;
};

describe("a proxied answer", () => {
  const shown = ["Access-Control-Allow-Origin", "*"];

  test.each([
    { what: "without a list of its own", theirs: [], merged: ["Access-Control-Expose-Headers", ours] },
    {
      what: "with a list of its own",
      theirs: ["access-control-EXPOSE-headers", "X-Own, link"],
      merged: ["access-control-EXPOSE-headers", "X-Own, link, Deprecation, Retry-After, Sunset, X-Request-Id"],
    },
    {
      what: "with an empty list",
      theirs: ["Access-Control-Expose-Headers", " "],
      merged: ["Access-Control-Expose-Headers", ours],
    },
    {
      what: "that exposes the same already",
      theirs: ["Access-Control-Expose-Headers", ours.toLowerCase()],
      merged: ["Access-Control-Expose-Headers", ours.toLowerCase()],
    },
  ])("$what exposes our headers once", ({ theirs, merged }) => {
    expect(exposed(...shown, ...theirs)).toEqual([...shown, ...merged]);
  });

  test("that legacy shows to no other origin stays as it is", () => {
    expect(exposed("Content-Type", "text/html", "X-Own", "*")).toEqual(["Content-Type", "text/html", "X-Own", "*"]);
    expect(exposed()).toEqual([]);
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

test("a page may send every header that legacy allows", () => {
  const allowed = preflightHeaders("GET")["Access-Control-Allow-Headers"]?.split(", ");
  expect(allowed).toEqual(expect.arrayContaining(["Origin", "X-Requested-With", "Content-Type", "Accept"]));
});
