import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { errorsIn } from "../../operation/settings/support.ts";
import { listeningGateway } from "../http/support.ts";
import { check } from "../../../tools/check.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { describeWith } from "../../support/needs.ts";
import { until } from "../../support/waiting.ts";
import { startPrivateBackend } from "./privateAuthority.ts";

describeWith("openssl", "a backend with a private authority", () => {
  let backend: Awaited<ReturnType<typeof startPrivateBackend>>;
  let port = 0;
  beforeAll(async () => {
    backend = await startPrivateBackend();
    ({ port } = backend);
  });
  afterAll(() => backend.close());
  const at = (name: string) => backend.at(name);

  const statuses = async (environment: Record<string, string>, host = "localhost"): Promise<number[]> => {
    const { url } = await listeningGateway(`https://${host}:${port}`, environment);
    const paths = ["/v1/evaluationmeasures/list", "/api/v1/json/evaluationmeasure/list"];
    return Promise.all(paths.map(async (path) => (await fetch(url + path)).status));
  };

  test("LEGACY_CA makes legacy trusted, for both interfaces", async () => {
    expect(await statuses({})).toEqual([502, 502]);
    expect(await statuses({ LEGACY_CA: at("ca.pem") })).toEqual([200, 200]);
    expect(await statuses({ LEGACY_CA: at("ca.pem") }, "127.0.0.1")).toEqual([200, 200]);
  });

  test("the metrics say when the certificate of a backend expires", async () => {
    const { url, core } = await listeningGateway(`https://localhost:${port}`, { LEGACY_CA: at("ca.pem") });
    const name = "catalog_gateway_upstream_certificate_expiry_timestamp_seconds";
    const expiry = async () => (await core.meter.read()).find((family) => family.name === name)?.values;
    expect(await expiry()).toEqual([]);
    await fetch(`${url}/v1/evaluationmeasures/list`);
    const days = (((await expiry())?.[0]?.value ?? 0) - Date.now() / 1000) / 86_400;
    expect(Math.round(days)).toBe(2);
  });

  test("--check names LEGACY_CA where the certificate is not trusted", async () => {
    const gateway = await gatewayFor(`https://localhost:${port}`);
    const { settings } = gateway.core;
    const { rows } = await check(gateway, { settings, strict: false, parts: [], off: [], print: () => undefined });
    expect(rows[0]).toMatchObject({ result: "FAIL", advice: expect.stringMatching(/not trusted.*LEGACY_CA/) });
    await gateway.close();
  });

  test("the reason of a failure says since when a certificate has expired", async () => {
    const expired = await startPrivateBackend(-1);
    const { url, core } = await listeningGateway(`https://localhost:${expired.port}`, {
      LEGACY_CA: expired.at("ca.pem"),
    });
    expect((await fetch(`${url}/v1/evaluationmeasures/list`)).status).toBe(502);
    await until(() => core.outage.isOn());
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    expect(core.dependencies.failed()[0]).toMatchObject({
      why: "it cannot be reached",
      details: expect.stringMatching(`^its certificate has expired, on ${yesterday} .* is LEGACY_URL .https:`),
    });
    expired.close();
  });

  test("a file without a certificate is refused by the setting's name", () => {
    writeFileSync(at("broken.pem"), readFileSync(at("ca.pem"), "utf8").replace(/\n\w{4}/, "\nAAAA"));
    const wrong = {
      [at("ca.key")]: "it has no certificate in it",
      [at("broken.pem")]: "it has a certificate in it that cannot be read",
      "/no/such/file": "it cannot be read (ENOENT)",
    };
    for (const [path, why] of Object.entries(wrong))
      expect(errorsIn({ LEGACY_URL: "https://localhost:1", LEGACY_CA: path })).toEqual([
        `LEGACY_CA: "${path}" given in the environment; allowed is the path of a file with certificates (PEM): ${why}`,
      ]);
  });
});
