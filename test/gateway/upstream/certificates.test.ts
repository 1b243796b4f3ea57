import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCertificates } from "../../../src/operation/settings/certificates.ts";
import { listeningGateway } from "../http/support.ts";
import { check } from "../../../tools/check.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { describeWith } from "../../support/needs.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const directory = temporaryFolder();
const at = (name: string) => join(directory, name);
const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: directory, stdio: "pipe" });
const keyOptions = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"];

/** An authority, and a certificate of it for `localhost`. */
const makeCertificates = (): void => {
  const authority = ["-x509", "-days", "2", "-subj", "/CN=A private authority"];
  openssl("req", ...authority, ...keyOptions, "-keyout", "ca.key", "-out", "ca.pem");
  openssl("req", "-new", "-subj", "/CN=localhost", ...keyOptions, "-keyout", "server.key", "-out", "server.csr");
  writeFileSync(at("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
  openssl("x509", "-req", "-in", "server.csr", ...signed, "-out", "server.pem");
};

describeWith("openssl", "a backend with a private authority", () => {
  let server: ReturnType<typeof createServer>;
  let port = 0;
  beforeAll(async () => {
    makeCertificates();
    const options = { key: readFileSync(at("server.key")), cert: readFileSync(at("server.pem")) };
    server = createServer(options, ({ url = "" }, response) => {
      const measures = url.startsWith("/api/v1/")
        ? { evaluation_measures: { measures: { measure: "kappa" } } }
        : ["f1"];
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(measures));
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => server.close());

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
    const { rows } = await check(gateway, { settings, strict: false, print: () => undefined });
    expect(rows[0]).toMatchObject({ result: "FAIL", advice: expect.stringMatching(/not trusted.*LEGACY_CA/) });
    await gateway.close();
  });

  test("MODERN_CA makes the new implementation trusted", async () => {
    const STAGES = '{"listEvaluationMeasures": {"stage": "modern"}}';
    const environment = { LEGACY_CA: at("ca.pem"), MODERN_URL: `https://localhost:${port}`, STAGES };
    const answerOf = async (more: Record<string, string>) => {
      const { url } = await listeningGateway(`https://localhost:${port}`, { ...environment, ...more });
      return (await fetch(`${url}/v1/evaluationmeasures/list`)).json();
    };
    expect(await answerOf({})).toEqual(["kappa"]);
    expect(await answerOf({ MODERN_CA: at("ca.pem") })).toEqual(["f1"]);
  });

  test("a file without a certificate is refused by the setting's name", async () => {
    expect(() => readCertificates("LEGACY_CA", at("ca.key"))).toThrow(
      `LEGACY_CA: ${at("ca.key")} has no certificate in it; allowed is the path of a file with certificates (PEM)`,
    );
    writeFileSync(at("broken.pem"), readFileSync(at("ca.pem"), "utf8").replace(/\n\w{4}/, "\nAAAA"));
    expect(() => readCertificates("MODERN_CA", at("broken.pem"))).toThrow("MODERN_CA: ");
    await expect(listeningGateway("https://localhost:1", { LEGACY_CA: "/no/such/file" })).rejects.toThrow(
      "LEGACY_CA: /no/such/file cannot be read (ENOENT)",
    );
  });
});
