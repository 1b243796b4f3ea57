import { describe, expect, test } from "vitest";
import { keys } from "../answer/support.ts";
import { clock } from "../cache/support.ts";
import { recordingUpstream, xmlError } from "../http/support.ts";
import { request, send } from "../proxy/support.ts";
import { settled, until } from "../../support/waiting.ts";
import { startSample } from "./sample.ts";
import { cachingOver, minute } from "./support.ts";

const path = "/api/v1/xml/flow/exists";
const known = { name: "sample.ZeroRule", external_version: "Sample_1.0" };
type Fields = Record<string, string>;

/** A gateway over the sample legacy, and how openml-python asks it whether a flow exists. */
const gatewayOver = async () => {
  const legacy = await startSample();
  const gateway = await cachingOver(legacy);
  const post = (fields: Fields, key: string | undefined = keys.user, to = path, headers: Fields = {}) => {
    const body = new URLSearchParams({ ...fields, ...(key !== "" && { api_key: key }) });
    return gateway.ask(to, headers, { method: "POST", body });
  };
  const direct = async (fields: Fields, key: string, to = path) => {
    const body = new URLSearchParams({ ...fields, ...(key !== "" && { api_key: key }) });
    const response = await fetch(legacy.direct + to, { method: "POST", body });
    return { status: response.status, body: await response.text() };
  };
  /** The number of requests to legacy for this path since the last call. */
  const asked = () => legacy.seen.splice(0).filter(({ url = "" }) => url.startsWith(path)).length;
  return { ...gateway, post, direct, asked };
};

describe("POST flow/exists is answered as a GET is", () => {
  test.each<[about: string, fields: Fields, to?: string]>([
    ["a flow", known],
    ["in JSON", known, "/api/v1/json/flow/exists"],
    ["in the default format", known, "/api/v1//flow/exists/"],
    ["no flow", { name: "a.pipe(b=c/d)", external_version: "openml==0.15.1,sklearn==1.6" }],
    ["a name beyond ASCII", { name: "fl\u00F6w \u00E9", external_version: "1+1" }],
  ])("it is stored for all callers with a key: %s", async (_, fields, to) => {
    const { post, direct } = await gatewayOver();
    const { status, body, how } = await post(fields, keys.user, to);
    expect({ status, body }).toEqual(await direct(fields, keys.user, to));
    expect(how).toMatch(/^fwd=uri-miss; stored/);
    for (const key of [keys.user, keys.owner])
      expect(await post(fields, key, to)).toMatchObject({ status, body, how: expect.stringMatching(/^hit/) });
  });

  test("legacy is asked by POST, once, and by no caller's header", async () => {
    const { post, legacy, asked } = await gatewayOver();
    await Promise.all([1, 2, 3].map(() => post(known, keys.user, path, { "User-Agent": "a", Cookie: "a=b" })));
    const sent = legacy.seen.find(({ url }) => url === path);
    expect([sent?.method, sent?.headers["user-agent"], sent?.headers.cookie]).toEqual([
      "POST",
      "catalog-gateway",
      undefined,
    ]);
    expect(asked()).toBe(1);
  });

  test("while legacy fails it comes from the cache, or is code 107 if it is not cached", async () => {
    const { pass } = clock();
    const { post, legacy } = await gatewayOver();
    const { body } = await post(known);
    pass(5 * 24 * 60 * minute);
    legacy.isDown = true;
    for (const key of [keys.user, keys.unknown])
      expect(await post(known, key)).toMatchObject({ status: 200, body, how: expect.stringMatching(/^hit|stale/) });
    const other = await post({ ...known, name: "other" });
    expect([other.status, other.body]).toEqual([expect.toBeOneOf([502, 503]), expect.stringContaining(">107<")]);
  });

  test("a flow that does not exist is asked for again after an upload", async () => {
    clock();
    const { url } = await recordingUpstream(({ target }) =>
      target.endsWith("exists")
        ? { body: '{"flow_exists":{"exists":"false","id":"-1"}}' }
        : { body: '{"upload_flow":{"id":"7"}}' },
    );
    const { ask } = await cachingOver({ url });
    const post = (to: string, fields: Fields) =>
      ask(`/api/v1/json/${to}`, {}, { method: "POST", body: new URLSearchParams({ ...fields, api_key: keys.user }) });
    expect((await post("flow/exists", known)).how).toMatch(/stored; ttl=60$/);
    expect((await post("flow/exists", known)).how).toMatch(/^hit/);
    await post("flow", { description: "<oml:flow/>" });
    expect((await post("flow/exists", known)).how).toMatch(/^fwd=uri-miss/);
  });

  test("a key that legacy refuses meanwhile invalidates no answer for others", async () => {
    const { pass } = clock();
    const state = { isRefused: false };
    const { url, seen } = await recordingUpstream(({ target, method }) => {
      if (!target.endsWith("exists")) return method === "POST" ? xmlError(471, "No tag") : undefined;
      return state.isRefused ? xmlError(103, "No") : { body: '{"flow_exists":{"exists":"true","id":"7"}}' };
    });
    const { ask } = await cachingOver({ url });
    const body = new URLSearchParams({ ...known, api_key: keys.user });
    const post = () => ask("/api/v1/json/flow/exists", {}, { method: "POST", body });
    const first = await post();
    pass(120 * minute);
    state.isRefused = true;
    const asked = () => seen.filter(({ target }) => target.endsWith("exists")).length;
    expect((await post()).how).toContain("stale-while-revalidate");
    await until(() => asked() === 2);
    await settled();
    expect(await post()).toMatchObject({ body: first.body, how: expect.stringMatching(/^hit/) });
  });

  test("it and the GET of a flow are two entries: legacy reads a form differently", async () => {
    const { post, ask } = await gatewayOver();
    await post(known);
    expect((await ask(`${path}/${known.name}/${known.external_version}`)).how).toMatch(/^fwd=uri-miss; stored/);
  });

  test("a body that comes after its head is read, and the connection goes on", async () => {
    const { post, port } = await gatewayOver();
    await post(known);
    const body = new URLSearchParams({ ...known, api_key: keys.user }).toString();
    const head = request(
      `POST ${path}`,
      "Content-Type: application/x-www-form-urlencoded",
      `Content-Length: ${body.length}`,
    );
    const first = head.replace("Connection: close\r\n", "");
    const { text } = await send(port, first, body.slice(0, 9), body.slice(9) + head + body);
    expect(text.match(/catalog-gateway; hit/g)).toHaveLength(2);
  });
});

describe("POST flow/exists passes as it came", () => {
  test.each([
    ["without a key", ""],
    ["with a wrong key", keys.unknown],
    ["with a key that may not write", keys.reader],
  ])("%s", async (_, key) => {
    const { post, direct } = await gatewayOver();
    await post(known);
    const { status, body, how } = await post(known, key);
    expect([{ status, body }, how]).toEqual([await direct(known, key), "passed"]);
  });

  const form = new URLSearchParams({ ...known, api_key: keys.user }).toString();
  const type = { "Content-Type": "application/x-www-form-urlencoded" };
  test("unless it is a form of just these fields and a key", async () => {
    const { url, seen } = await recordingUpstream(() => ({ body: '{"flow_exists":{"exists":"true","id":"7"}}' }));
    const { ask } = await cachingOver({ url });
    const others: [about: string, body: string, headers?: Fields, query?: string][] = [
      ["with a query", form, type, "?a=b"],
      ["with another field", `${form}&a=b`],
      ["with a field twice", `${form}&name=a`],
      ["without a field", form.replace(/name=[^&]*&/, "")],
      ["with a name that is no UTF-8", form.replace("sample", "%ff")],
      ["with bytes that are no ASCII", form.replace("sample", "\u00E9")],
      ["with a question mark first", `?${form}`],
      ["with a long version", form.replace("Sample", "S".repeat(200))],
      ["with a large body", `${form}${"x".repeat(20_000)}`],
      ["with another type", form, { "Content-Type": "text/plain" }],
      ["with a coding", form, { ...type, "Content-Encoding": "identity" }],
      ["with a header that may hold a key", form, { ...type, Authorization: "Basic YQ==" }],
      ["without a body", ""],
    ];
    for (const [about, body, headers = type, query = ""] of others) {
      seen.splice(0);
      for (let i = 0; i < 2; i++) {
        const { how } = await ask(path + query, headers, { method: "POST", body });
        expect([about, how]).toEqual([about, "passed"]);
      }
      const passed = seen.filter(({ target }) => target.startsWith(path));
      expect([about, ...passed.map((sent) => sent.body)]).toEqual([about, body, body]);
    }
  });
});
