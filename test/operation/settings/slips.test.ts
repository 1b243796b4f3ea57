import { describe, expect, test } from "vitest";
import { settingsOf } from "../../support/settings.ts";
import { fileWith, warningsIn } from "./support.ts";

describe("a variable whose name is nearly a setting's", () => {
  test.each([
    ["PROT", "PORT"],
    ["LEGACY_ULR", "LEGACY_URL"],
    ["legacy_url", "LEGACY_URL"],
    ["TRUSTED_PROXY", "TRUSTED_PROXIES"],
    ["CONFG", "CONFIG"],
  ])("%s is named in a warning with %s", (given, meant) => {
    expect(warningsIn({ [given]: "x" })).toEqual([
      `${given} in the environment is not a setting and has no effect: is ${meant} meant?`,
    ]);
    expect(warningsIn({ [given]: "" })).toEqual([]);
  });
});

test.each([
  ["port", "PORT"],
  ["ADMIN_TOKEN_FIEL", "ADMIN_TOKEN_FILE"],
])("%s in the configuration file is refused with the question whether %s is meant", (given, meant) => {
  const path = fileWith(JSON.stringify({ [given]: "x" }));
  expect(settingsOf({ CONFIG: path })).toEqual({
    errors: [`${given}: unknown setting in ${path}; is ${meant} meant?`],
    warnings: [],
  });
});

/** Names set by Docker, Kubernetes, CI services, shells and npm that share words with settings. */
const ordinary = `
  PATH HOME host port HOSTNAME HOST_IP HOST_NAME HOSTALIASES HOSTTYPE LINES LESS LOGNAME LOGLEVEL_ROOT LOG_DIR DATA XDG_DATA_DIRS
  KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_PORT KUBERNETES_PORT_443_TCP_PORT GATEWAY_PORT GATEWAY_HOST
  CATALOG_GATEWAY_PORT LEGACY_PORT LEGACY_SERVICE_HOST LEGACY_PORT_80_TCP MODERN_PORT MODERN_HOST MODERN_SERVICE_HOST
  REDIS_PORT REDIS_HOST REDIS_PASSWORD REDIS_SERVICE_HOST VALKEY_PORT DB_HOST DB_PORT DB_URL DATABASE_URL PGHOST PGPORT
  SMTP_HOST HTTP_HOST HTTP_PORT HTTPS_PORT APP_PORT APP_HOST WEB_PORT SERVER_PORT METRICS_PORT ADMIN_USER ADMIN_PASSWORD
  HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy no_proxy NODE_OPTIONS npm_config_prefix PREFIX STAGE STAGE_NAME RELEASE VERSION
  JENKINS_URL BUILD_URL NOMAD_PORT_http CONSUL_HTTP_ADDR OTEL_EXPORTER_OTLP_PROTOCOL OTEL_EXPORTER_OTLP_HEADERS
  OTEL_LOGS_EXPORTER OTEL_SERVICE_NAME CONFIG_DIR CONFIG_PATH CONFIG_FILE DOCKER_HOST COMPOSE_PROJECT_NAME
  STATE_DIRECTORY RUNTIME_DIRECTORY CREDENTIALS_DIRECTORY POST COST SORT`;

test("ordinary environments give no warning", () => {
  const environment = Object.fromEntries(
    ordinary
      .trim()
      .split(/\s+/)
      .map((name) => [name, "tcp://10.0.0.1:80"]),
  );
  expect(warningsIn(environment)).toEqual([]);
});
