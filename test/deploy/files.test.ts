import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { secretSettings, settingsSchemaOf } from "../../src/operation/settings/settings.ts";
import { WAIT_TIMEOUT } from "../../src/gateway/upstream/upstream.ts";
import { describeWith } from "../support/needs.ts";
import { freePort } from "../support/freePort.ts";
import { packGateway, runNpm } from "../support/package.ts";
import { watchProgram } from "../support/program.ts";
import { fragments, settingsOf } from "../support/settings.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const read = (file: string) => readFileSync(join("deploy", file), "utf8");

const dockerfileText = read("Dockerfile");
const commandOf = (instruction: RegExp): string[] =>
  JSON.parse(instruction.exec(dockerfileText)?.[1] ?? "[]") as string[];

/**
 * The content of `deploy/Dockerfile`: commands as lists of arguments, and each copy from the build
 * context with its sources.
 */
const dockerfile = {
  entrypoint: commandOf(/^ENTRYPOINT (.*)$/m),
  health: commandOf(/^HEALTHCHECK[^]*?CMD (\[.*\])$/m),
  copies: [...dockerfileText.matchAll(/^COPY (?!--from)(.*) (\S+)$/gm)].map(([, from = "", to = ""]) => ({
    from: from.split(" "),
    to,
  })),
  environment: Object.fromEntries(
    [...(/^ENV ([^]*?[^\\])$/m.exec(dockerfileText)?.[1] ?? "").matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  ) as Record<string, string>,
};

type Container = {
  env: { name: string; value?: string }[];
  ports: { containerPort: number }[];
  lifecycle: { preStop: { exec: { command: string[] } } };
  startupProbe: Probe;
  readinessProbe: Probe;
  livenessProbe: Probe;
};
type Probe = { httpGet: { path: string } };
type Pod = { terminationGracePeriodSeconds: number; containers: [Container] };
type Compose = {
  services: Record<
    string,
    {
      volumes?: string[];
      ports?: string[];
      environment?: Record<string, unknown>;
      stop_grace_period?: string;
      command?: string[];
      depends_on?: unknown;
    }
  >;
};

const compose = parse(read("compose.yaml")) as Compose;
const [deployment] = parseAllDocuments(read("kubernetes/gateway.yaml")).map((document) => document.toJS() as unknown);
const pod = (deployment as { spec: { template: { spec: Pod } } }).spec.template.spec;
const unit = read("catalog-gateway@.service");
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  version: string;
  scripts: { start: string };
};

const shape = settingsSchemaOf(fragments).shape;
const defaultOf = (setting: string): number => settingsSchemaOf(fragments).parse({})[setting] as number;

test("every setting in the deployment files exists", () => {
  const known = new Set([
    ...Object.keys(shape),
    ...[...secretSettings(fragments)].map((name) => `${name}_FILE`),
    "NODE_ENV",
    "MALLOC_MMAP_THRESHOLD_",
    "NODE_COMPILE_CACHE",
  ]);
  const given = [
    ...Object.keys(compose.services["gateway"]?.environment ?? {}),
    ...pod.containers[0].env.map(({ name }) => name),
    ...[...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, all]) =>
      [...(all ?? "").matchAll(/(\w+)=/g)].map(([, name]) => name as string),
    ),
    ...Object.keys(dockerfile.environment),
  ];
  expect(given.length).toBeGreaterThan(0);
  expect(given.filter((name) => !known.has(name))).toEqual([]);
});

test("the ports of every way to start the gateway are its defaults", () => {
  const ports = [8000, 18_000];
  expect(/^EXPOSE (.*)$/m.exec(dockerfileText)?.[1]).toBe(ports.join(" "));
  expect(compose.services["gateway"]?.ports).toEqual([`127.0.0.1:${ports[1]}:${ports[1]}`]);
  expect(pod.containers[0].ports.map(({ containerPort }) => containerPort)).toEqual(ports);
  expect(read("prometheus/prometheus.yml")).toMatch(new RegExp(`^ +port: ${ports[1]}\\b`, "m"));
  expect(settingsOf({})).toMatchObject({ settings: { PORT: ports[0], ADMIN_PORT: ports[1] } });
  // The unit gives the public port only, and the operators' port follows from it.
  expect(unit).toMatch(/ PORT=%i /);
  expect(unit).not.toContain("ADMIN_PORT");
});

test("every way to start the gateway gives Node the same options", () => {
  const commands = {
    npm: manifest.scripts.start,
    image: dockerfile.entrypoint.join(" "),
    unit: /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? "",
  };
  const options = Object.entries(commands).map(([name, command]) => [name, command.match(/ --\S+/g)]);
  expect(options).toEqual(
    Object.keys(commands).map((name) => [name, [" --max-semi-space-size=8", " --disable-sigusr1"]]),
  );
  // A command of their own would replace that of the image.
  for (const container of [pod.containers[0], compose.services["gateway"]])
    for (const key of ["command", "entrypoint"]) expect(container).not.toHaveProperty(key);
});

test("every way to start the gateway is for production: a lost LEGACY_URL stops it", () => {
  expect(dockerfile.environment).toMatchObject({ NODE_ENV: "production" });
  expect(unit).toMatch(/^Environment=NODE_ENV=production /m);
  expect(read("README.md")).toContain("NODE_ENV=production MALLOC_MMAP_THRESHOLD_=1048576 LEGACY_URL=");
  // These run the image. Names without a value come from the shell.
  for (const given of [
    pod.containers[0].env.map(({ name }) => name),
    Object.keys(compose.services["gateway"]?.environment ?? {}),
  ])
    expect([given.includes("LEGACY_URL"), given.includes("NODE_ENV")]).toEqual([true, false]);
});

test("every way to stop the gateway leaves it the time to drain", () => {
  const drain = (defaultOf("DRAIN_DELAY_MS") + defaultOf("DRAIN_TIMEOUT_MS")) / 1000;
  const [, preStop] = pod.containers[0].lifecycle.preStop.exec.command;
  expect(pod.terminationGracePeriodSeconds).toBe(Number(preStop) + drain + 5);
  expect(compose.services["gateway"]?.stop_grace_period).toBe(`${drain + 5}s`);
  expect(unit).toMatch(new RegExp(`^TimeoutStopSec=${drain + 5}$`, "m"));
});

test("the unit restarts after temporary failures, and never after a wrong setting", () => {
  const valueOf = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1];
  expect(["Restart", "RestartPreventExitStatus", "RestartSec", "StartLimitIntervalSec"].map(valueOf)).toEqual([
    "on-failure",
    "2",
    "3",
    "0",
  ]);
  expect(valueOf("After")?.split(" ")).toEqual(expect.arrayContaining(["redis.service", "valkey.service"]));
});

test("every file names one version, and the image takes its tarball among several", () => {
  const files = ["README.md", "CHANGELOG.md", "tools/pack/package.md", "deploy/README.md", "docs/tools.md"];
  const named = [...files, "deploy/Dockerfile", "deploy/kubernetes/gateway.yaml"].map((file) => [
    file,
    /(?:catalog-gateway(?:-kit)?[-:]|^ARG VERSION=|^## )(\d+\.\d+\.\d+)/m.exec(readFileSync(file, "utf8"))?.[1],
  ]);
  expect(named).toEqual(named.map(([file]) => [file, manifest.version]));
  expect(dockerfile.copies).toContainEqual({ from: ["catalog-gateway-${VERSION}.tgz"], to: "package.tgz" });
});

test("Compose restarts nginx with the gateway: nginx looks up its address only once", () => {
  expect(compose.services["nginx"]?.depends_on).toEqual({ gateway: { condition: "service_healthy", restart: true } });
});

test("the files that compose.yaml mounts exist", () => {
  const mounted = Object.values(compose.services)
    .flatMap(({ volumes = [] }) => volumes)
    .flatMap((volume) => /^\.\/[^:]+/.exec(volume)?.[0] ?? []);
  expect(mounted.length).toBeGreaterThan(0);
  expect(mounted.filter((path) => !existsSync(join("deploy", path)))).toEqual([]);
});

test(".dockerignore leaves exactly what the Dockerfile copies", () => {
  const left = [...readFileSync(".dockerignore", "utf8").matchAll(/^!(.*)$/gm)].map(([, path]) => String(path));
  const copied = new Set(dockerfile.copies.flatMap(({ from }) => from.map((path) => path.replace("${VERSION}", "*"))));
  expect([...copied].toSorted()).toEqual(left.toSorted());
});

describe("the image", () => {
  const folder = temporaryFolder();
  beforeAll(() => {
    spawnSync("tar", ["-xzf", packGateway(), "-C", folder]);
    runNpm(join(folder, "package"), "ci", "--ignore-scripts");
  });
  const run = ([program, ...args]: string[], settings: Record<string, string> = {}) => {
    expect(program).toBe("node");
    const options = {
      cwd: join(folder, "package"),
      env: { PATH: process.env["PATH"], ...dockerfile.environment, ...settings },
    };
    return watchProgram(spawn(process.execPath, args, { ...options, stdio: ["ignore", "pipe", "pipe"] }));
  };

  test("the gateway runs from the image alone; HEALTHCHECK and the probes see it", async () => {
    const [port, adminPort] = [await freePort(), await freePort()];
    const settings = { PORT: String(port), ADMIN_PORT: String(adminPort), LEGACY_URL: "sample" };
    const { child, listening } = run(dockerfile.entrypoint, settings);
    onTestFinished(() => void child.kill("SIGKILL"));
    await listening();
    expect(await run(dockerfile.health, settings).ended).toBe(0);
    const { startupProbe, readinessProbe, livenessProbe } = pod.containers[0];
    for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
      const { status } = await fetch(`http://127.0.0.1:${adminPort}${httpGet.path}`);
      expect([httpGet.path, status]).toEqual([httpGet.path, 200]);
    }
  });

  test("the sample of compose.yaml answers", async () => {
    const { command = [] } = compose.services["sample"] ?? {};
    const free = command.map((argument) => (argument === "8080" ? "0" : argument));
    const { child, listening } = run([...dockerfile.entrypoint, ...free]);
    onTestFinished(() => void child.kill("SIGKILL"));
    const { port } = new URL((await listening()).replace(/:$/, ""));
    const { status } = await fetch(`http://127.0.0.1:${port}/api/v1/json/data/61`);
    expect(status).toBe(200);
  });
});

describeWith("systemd-analyze", "deploy/catalog-gateway@.service", () => {
  test("the unit is valid, and its exposure is low", () => {
    const root = temporaryFolder();
    const file = join(root, "etc/systemd/system/catalog-gateway@8000.service");
    const node = join(root, "opt/catalog-gateway/node_modules/.bin/node");
    for (const path of [file, node]) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(node, "");
    chmodSync(node, 0o755);
    // The programs and folders that the unit names are looked for below `root`.
    writeFileSync(file, unit.replaceAll("/opt/catalog-gateway", join(root, "opt/catalog-gateway")));
    const analyze = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
      return [status, stdout + stderr];
    };
    expect(analyze("verify", "--man=no", file)).toEqual([0, ""]);
    // Tenths: 2.0 of 10.
    expect(analyze("security", "--offline=true", "--threshold=20", file)).toEqual([0, expect.stringContaining("OK")]);
  });
});

describeWith("promtool", "deploy/prometheus/prometheus.yml", () => {
  test("Prometheus reads it, with the rules beside it", () => {
    const folder = temporaryFolder();
    const paths = { "/etc/prometheus/alerts.yaml": resolve("deploy/alerts.yaml"), "/run/secrets": folder };
    let text = read("prometheus/prometheus.yml");
    for (const [inside, here] of Object.entries(paths)) text = text.replaceAll(inside, here);
    writeFileSync(join(folder, "metrics-token"), "token");
    writeFileSync(join(folder, "prometheus.yml"), text);
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "config", join(folder, "prometheus.yml")], {
      encoding: "utf8",
    });
    expect([status, stdout + stderr]).toEqual([0, expect.stringMatching(/SUCCESS: \d+ rules found/)]);
  });
});

test("the proxies wait longer than the gateway does", () => {
  const wait = (WAIT_TIMEOUT + defaultOf("TOTAL_TIMEOUT_MS")) / 1000;
  const waits = globSync("deploy/{nginx,caddy}/forward.*").map((file) =>
    Number(/(?:proxy_read_timeout|response_header_timeout) (\d+)s/.exec(readFileSync(file, "utf8"))?.[1]),
  );
  expect(waits.length).toBeGreaterThan(0);
  for (const seconds of waits) expect(seconds).toBeGreaterThan(wait);
});
