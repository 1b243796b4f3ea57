import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const keyOptions = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"];

/** An authority, and a certificate of it for `localhost` that is valid for this number of days. */
const makeCertificates = (directory: string, days: number): void => {
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: directory, stdio: "pipe" });
  const authority = ["-x509", "-days", "2", "-subj", "/CN=A private authority"];
  openssl("req", ...authority, ...keyOptions, "-keyout", "ca.key", "-out", "ca.pem");
  openssl("req", "-new", "-subj", "/CN=localhost", ...keyOptions, "-keyout", "server.key", "-out", "server.csr");
  writeFileSync(join(directory, "names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", String(days), "-extfile", "names"];
  openssl("x509", "-req", "-in", "server.csr", ...signed, "-out", "server.pem");
};

/**
 * A server whose certificate is of an authority of its own: legacy, and modern at other paths. `at`: the
 * path of a file of these. `days`: until its certificate expires.
 */
export const startPrivateBackend = async (days = 2) => {
  const directory = temporaryFolder();
  const at = (name: string) => join(directory, name);
  makeCertificates(directory, days);
  const options = { key: readFileSync(at("server.key")), cert: readFileSync(at("server.pem")) };
  const server = createServer(options, ({ url = "" }, response) => {
    const measures = url.startsWith("/api/v1/") ? { evaluation_measures: { measures: { measure: "kappa" } } } : ["f1"];
    response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(measures));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return { at, port: (server.address() as AddressInfo).port, close: () => void server.close() };
};
