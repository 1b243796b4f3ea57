import { hostname, networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { ownAddressErrors } from "../../../src/operation/settings/ownAddress.ts";

const outer = Object.values(networkInterfaces())
  .flatMap((addresses = []) => addresses)
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

describe("a URL that leads to the gateway itself", () => {
  test.each<[host: string, url: string]>([
    ["127.0.0.1", "http://127.0.0.1:8000"],
    ["127.0.0.1", "http://localhost:8000"],
    ["127.0.0.1", "http://0.0.0.0:8000"],
    ["127.0.0.1", "http://[::ffff:127.0.0.1]:8000"],
    ["localhost", "http://127.0.0.1:8000"],
    ["localhost", "https://[::1]:8000"],
    ["0.0.0.0", "http://127.8.9.10:8000"],
    ["::", "http://localhost:8000"],
    ["0.0.0.0", `http://${hostname()}:8000`],
    ["gateway.example", "http://gateway.example:8000"],
    ...(outer === undefined ? [] : [["0.0.0.0", `http://${outer}:8000`] as [string, string]]),
  ])("HOST %s, %s is refused", (HOST, LEGACY_URL) => {
    expect(ownAddressErrors({ HOST, PORT: 8000, LEGACY_URL })).toEqual([
      `LEGACY_URL: "${LEGACY_URL}" given, where the gateway itself listens (HOST ${HOST}, PORT 8000); allowed is another server`,
    ]);
  });

  test.each([
    ["127.0.0.1", "http://127.0.0.1:8001"],
    ["127.0.0.1", "http://127.0.0.2:8000"],
    ["192.0.2.1", "http://localhost:8000"],
    ["0.0.0.0", "http://192.0.2.1:8000"],
    ["0.0.0.0", "http://legacy.example:8000"],
  ])("HOST %s, %s is another server", (HOST, LEGACY_URL) => {
    expect(ownAddressErrors({ HOST, PORT: 8000, LEGACY_URL })).toEqual([]);
  });

  test("is found for every listener and every URL, with the port of its scheme", () => {
    const settings = {
      HOST: "::",
      PORT: 443,
      ADMIN_HOST: "127.0.0.1",
      ADMIN_PORT: 8001,
      REDIS_URL: "redis://[::1]:443",
    };
    expect(
      ownAddressErrors({ ...settings, MODERN_URL: "https://localhost/v1", LEGACY_URL: "http://localhost:8001" }),
    ).toEqual([
      expect.stringMatching(/^MODERN_URL: .* \(HOST ::, PORT 443\)/),
      expect.stringMatching(/^LEGACY_URL: .* \(ADMIN_HOST 127\.0\.0\.1, ADMIN_PORT 8001\)/),
    ]);
    expect(ownAddressErrors({ ...settings, PORT: 0, LEGACY_URL: "http://localhost:0" })).toEqual([]);
  });
});
