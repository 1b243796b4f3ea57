import { describe, expect, test } from "vitest";
import { request } from "../proxy/support.ts";
import { listeningGateway, recordingUpstream } from "../http/support.ts";
import { exchange, expectDetail, measures } from "./support.ts";

/** Legacy behind a gateway whose prefix is `/`: answers by a mark of its own. */
const open = async (PREFIXES = "/") => {
  const { url, seen } = await recordingUpstream(({ target }) => ({
    body: target.includes("/evaluationmeasure/list") ? measures : `legacy ${target}`,
    status: 299,
  }));
  return { ...(await listeningGateway(url, { PREFIXES })), seen };
};

describe("below / only the listed paths are ours", () => {
  test("any other is passed through as it is", async () => {
    const { port, seen } = await open();
    const lines = [
      "GET /",
      "GET /nothing",
      "DELETE /nothing",
      "PUT /datasets",
      "GET /datasets/61/more",
      "POST /api/v1/json/data/tag",
      "OPTIONS /api/v1/json/data/61",
      "GET /v1/datasets/61",
      "GET //datasets/61",
      "GET /x/../datasets/61",
      "GET /datasets%2F61",
      "GET /%64atasets/61",
      "TRACE /api/v1/json/data/61",
      "PROPFIND /x?a=b&a=%20#f",
    ];
    for (const line of lines) {
      const { status, body, headers } = await exchange(port, request(line, "Cookie: a=b", "Content-Length: 0"));
      const [method, target = ""] = line.split(" ");
      expect([line, status, headers.get("set-cookie")]).toEqual([line, 299, "ci_session=secret"]);
      expect(body).toContain(`legacy ${target}`);
      expect(seen.splice(0)).toMatchObject([{ method, target, headers: { cookie: "a=b", host: "front.example" } }]);
    }
  });

  test("a listed path is ours, be the request right or wrong", async () => {
    const { port, seen } = await open();
    const lines: [line: string, status: number][] = [
      ["DELETE /datasets/61", 405],
      ["GET /datasets/tag", 405],
      ["GET /datasets/abc", 422],
      ["POST /datasets/tag", 401],
      ["GET /studies/1", 410],
      ["GET /data/list/limit", 422],
    ];
    for (const [line, status] of lines) expectDetail(await exchange(port, request(line, "Content-Length: 0")), status);
    expect(seen).toEqual([]);
  });

  test("beside another prefix, below which all is ours", async () => {
    const { port, seen } = await open("/,/v1");
    expectDetail(await exchange(port, request("GET /v1/nothing")), 404);
    expect(seen).toEqual([]);
    expect((await exchange(port, request("GET /nothing"))).status).toBe(299);
  });

  test("OPTIONS * is answered by the gateway", async () => {
    const { port, seen } = await open();
    expect((await exchange(port, request("OPTIONS *"))).status).toBe(204);
    expect(seen).toEqual([]);
  });
});
