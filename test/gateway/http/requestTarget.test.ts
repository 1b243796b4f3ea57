import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isHost, originForm, readRequestTarget } from "../../../src/gateway/http/requestTarget.ts";

/** A request line and header lines as node:http hands them over: the first Host counts, all are in the raw list. */
const read = (line: string, ...hosts: string[]) => {
  const [method = "", url = "", version = "HTTP/1.1"] = line.split(" ");
  const [host] = hosts;
  return readRequestTarget({
    method,
    url,
    httpVersion: version.slice("HTTP/".length),
    headers: host === undefined ? {} : { host },
    rawHeaders: ["Accept", "*/*", ...hosts.flatMap((value, i) => [i === 0 ? "Host" : "HOST", value])],
  });
};

describe("a target", () => {
  test.each([
    ["GET /", "/", "a"],
    ["GET HTTPS://other.example:8443/a?x=http://b", "/a?x=http://b", "other.example:8443"],
    ["GET http://[2001:db8::1]:80?x", "/?x", "[2001:db8::1]:80"],
    ["OPTIONS *", "*", "a"],
  ])("%s is read as %s at %s", (line, target, host) => {
    expect(read(line, "a")).toEqual({ ok: true, target, host });
  });

  test.each([
    "GET *",
    "GET a/b",
    "GET http://",
    "GET http://user@a/b",
    "GET http://a:99999/",
    "GET http://[::1/",
    "GET ",
  ])("the target of %s is refused", (line) => {
    expect(read(line, "a")).toMatchObject({ ok: false, status: 400 });
  });
});

describe("a Host", () => {
  test.each(["a", "A_b~c-d.example", "[2001:db8::192.0.2.1]:8080", "[::1]:"])("%s is a host", (host) => {
    expect(isHost(host)).toBe(true);
    expect(read("GET /", host)).toEqual({ ok: true, target: "/", host });
  });

  test.each([
    "a@b",
    "one, two",
    "a/b",
    "a b",
    ":",
    "a:65536",
    "a:080000",
    "[::1",
    "[fe80::1%25eth0]",
    'a";for=1.2.3.4',
    "é",
    "a".repeat(256),
  ])("%j is no host", (host) => {
    expect(isHost(host)).toBe(false);
    expect(read("GET /", host)).toMatchObject({ ok: false, status: 400 });
  });

  test("HTTP/1.1 needs a Host; none in HTTP/1.0, or an empty one, names no host", () => {
    expect(read("GET /")).toMatchObject({ ok: false, status: 400 });
    expect(read("GET http://a/")).toMatchObject({ ok: false, status: 400 });
    expect(read("GET / HTTP/1.0")).toEqual({ ok: true, target: "/", host: undefined });
    expect(read("GET /", "")).toEqual({ ok: true, target: "/", host: undefined });
  });

  test.each(["GET /", "GET http://c/", "GET / HTTP/1.0", "OPTIONS *"])("two Hosts are refused: %s", (line) => {
    expect(read(line, "a", "a")).toMatchObject({ ok: false, status: 400 });
    expect(read(line, "", "b")).toMatchObject({ ok: false, status: 400 });
  });
});

test("an accepted target is a path or *, at a host that a URL agrees with", () => {
  const text = fc.string({ unit: fc.constantFrom(...Array.from("ahtp:/@?#*[].,0 ")), maxLength: 20 });
  const target = fc.oneof(
    text,
    text.map((rest) => `http://${rest}`),
    text.map((rest) => `/${rest}`),
  );
  fc.assert(
    fc.property(fc.constantFrom("GET", "OPTIONS"), target, fc.oneof(text, fc.constant("a")), (method, url, host) => {
      const result = readRequestTarget({
        method,
        url,
        httpVersion: "1.1",
        headers: { host },
        rawHeaders: ["Host", host],
      });
      // No part of a host is read as user information, a path or a second host. An empty Host names no host.
      const isSound =
        !result.ok ||
        ((result.target === "*" ? method === "OPTIONS" : result.target.startsWith("/")) &&
          (result.host === undefined ? host === "" : /^[^@/?#,\s]+$/.test(result.host)));
      expect([result, isSound]).toEqual([result, true]);
    }),
    { numRuns: 2000 },
  );
});

test("a URL out of a log is read without its user", () => {
  expect(originForm("https://user:password@a.example/b?c")).toBe("/b?c");
  expect(originForm("/b")).toBe("/b");
  expect(originForm("mailto:a@b")).toBe("mailto:a@b");
});
