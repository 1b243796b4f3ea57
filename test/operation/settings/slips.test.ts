import { expect, test } from "vitest";
import { settingsOf } from "../../support/settings.ts";
import { fileWith, warningsIn } from "./support.ts";

test.each([
  ["PROT", "PORT"],
  ["legacy_url", "LEGACY_URL"],
  ["TRUSTED_PROXY", "TRUSTED_PROXIES"],
])("%s, nearly the name of a setting, is named in a warning with %s", (given, meant) => {
  expect(warningsIn({ [given]: "x" })).toEqual([
    `${given} in the environment is not a setting and has no effect: is ${meant} meant?`,
  ]);
  expect(warningsIn({ [given]: "" })).toEqual([]);
});

test("a misspelt setting in the configuration file: the refusal names the right one", () => {
  const path = fileWith('{"ADMIN_TOKEN_FIEL": "x"}');
  const errors = [`ADMIN_TOKEN_FIEL: unknown setting in ${path}; is ADMIN_TOKEN_FILE meant?`];
  expect(settingsOf({ CONFIG: path })).toEqual({ errors, warnings: [] });
});

/** Names set by Docker, Kubernetes, CI services, shells and npm that share words with settings. */
const ordinary = `
  PATH HOME host port HOSTNAME HOST_IP HOSTALIASES LESS LOG_DIR DATA XDG_DATA_DIRS KUBERNETES_PORT GATEWAY_PORT GATEWAY_HOST
  LEGACY_PORT LEGACY_SERVICE_HOST MODERN_PORT MODERN_HOST REDIS_PORT REDIS_HOST DB_URL DATABASE_URL HTTP_PROXY PREFIX STAGE
  OTEL_EXPORTER_OTLP_PROTOCOL CONFIG_DIR CONFIG_PATH CONFIG_FILE METRICS_PORT ADMIN_USER ADMIN_PASSWORD POST COST SORT`;

test("ordinary environments give no warning", () => {
  const names = ordinary.trim().split(/\s+/);
  expect(warningsIn(Object.fromEntries(names.map((name) => [name, "tcp://10.0.0.1:80"])))).toEqual([]);
});
