import { expect, onTestFinished, test } from "vitest";
import { startProgram } from "../../support/program.ts";
import { until } from "../../support/waiting.ts";
import { listeningGateway } from "../http/support.ts";
import { httpUpstream } from "../proxy/support.ts";

const key = "a".repeat(32);
const dataset = '{"data_set_description":{"id":"61","name":"iris","format":"ARFF"}}';
const measures = '{"evaluation_measures":{"measures":{"measure":"kappa"}}}';

/** A gateway in front of another, in a process of its own, whose legacy answers reads and breaks off writes. */
const startBoth = async () => {
  const LEGACY_URL = await httpUpstream((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "Content-Type": "application/json" });
      if (request.method === "GET") response.end(request.url?.includes("/data/") ? dataset : measures);
      else request.socket.destroy();
    });
  });
  const behind = await startProgram({ LEGACY_URL, LOG_LEVEL: "silent" });
  onTestFinished(async () => void (await behind.stop()));
  const { url } = await listeningGateway(`http://127.0.0.1:${behind.port}`);
  return {
    /** Tags dataset 61; the status. */
    tag: async (base: string) => {
      const [path, type, body] =
        base === "/v1"
          ? ["/v1/datasets/tag", "application/json", '{"data_id":61,"tag":"a"}']
          : [`${base}/data/tag`, "application/x-www-form-urlencoded", "data_id=61&tag=a"];
      const headers = { "Content-Type": type };
      return (await fetch(`${url}${path}?api_key=${key}`, { method: "POST", headers, body })).status;
    },
    /** The `Cache-Status` of dataset 61 from the gateway in front. */
    how: async () => (await fetch(`${url}/v1/datasets/61`)).headers.get("cache-status") ?? "",
  };
};

test.each(["/api/v1/json", "/api/v1/xml", "/v1"])(
  "entries become stale where a gateway behind does not know a write's fate: %s",
  async (base) => {
    const { tag, how } = await startBoth();
    expect(await how()).toContain("stored");
    expect(await tag(base)).toBe(502);
    // The key is verified meanwhile.
    await until(async () => (await how()).includes("fwd=stale"));
  },
);
