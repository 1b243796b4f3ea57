import { spawn } from "node:child_process";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { httpUpstream, until } from "./passThrough/support.ts";

/** The real program, with its output and its end. */
const start = (environment: Record<string, string>, ...args: string[]) => {
  const child = spawn(process.execPath, ["src/main.ts", ...args], {
    env: { PATH: process.env["PATH"], PORT: "0", ADMIN_PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = { out: "", error: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output.error += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => void child.once("close", resolve));
  const listening = async () => {
    await until(() => output.out.includes("listens on"));
    return /http:\/\/[\d.:]+/.exec(output.out)?.[0] as string;
  };
  return { child, output, ended, listening };
};

describe("npm start", () => {
  test("says in one line where it listens, whom it asks and what it serves", async () => {
    const { child, output, ended, listening } = start({ PREFIXES: "/v1,/api/v2" });
    const url = await listening();
    expect(output.out).toMatch(
      /^catalog-gateway listens on http:\/\/127\.0\.0\.1:\d+, asks http:\/\/127\.0\.0\.1:\d+ \(the sample legacy, [^)]*LEGACY_URL is not set\), serves \/v1 \/api\/v2; operators: http:\/\/127\.0\.0\.1:\d+\n$/,
    );
    expect((await fetch(`${url}/v1/datasets/61`)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s: what is in flight is answered whole, nothing new is taken, idle connections do not hold it up",
    async (signal) => {
      let answer = () => {};
      const told = new Promise<void>((resolve) => (answer = resolve));
      let asked = 0;
      const legacy = await httpUpstream((_, response) => {
        asked++;
        response.write('{"evaluation_measures":{"measures":');
        void told.then(() => response.end('{"measure":"kappa"}}}'));
      });
      const { child, ended, listening } = start({ LEGACY_URL: legacy });
      const url = await listening();
      const port = Number(new URL(url).port);
      const idle = connect(port, "127.0.0.1").on("error", () => undefined);
      const ours = fetch(`${url}/v1/evaluationmeasures/list`);
      const passed = fetch(`${url}/api/v1/json/evaluationmeasure/list`);
      await until(() => asked === 2);
      child.kill(signal);
      await new Promise((resolve) => setTimeout(resolve, 300));
      await expect(fetch(`${url}/v1/evaluationmeasures/list`)).rejects.toThrow("fetch failed");
      answer();
      expect(await (await ours).json()).toEqual(["kappa"]);
      expect(await (await passed).json()).toHaveProperty("evaluation_measures");
      expect(await ended).toBe(0);
      idle.destroy();
    },
  );

  test("a key is in no log, whatever goes wrong", async () => {
    const key = "0123456789abcdef0123456789abcdef";
    const legacy = await httpUpstream((request, response) =>
      request.url?.includes("/xml/") ? response.destroy() : response.end(`<div>${request.url}</div>`),
    );
    const { child, output, ended, listening } = start({ LEGACY_URL: legacy, LOG_LEVEL: "debug" });
    const url = await listening();
    for (const path of [
      `/v1/datasets/1?api_key=${key}`,
      `/v1/studies/1?api_key=${key}`,
      `/api/v1/xml/data/1?api_key=${key}`,
    ])
      await (await fetch(url + path)).text();
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(output.error).toContain("json_broken");
    expect(output.error).toContain("pass_through_failed");
    expect(output.out + output.error).not.toContain(key);
  });

  test("a wrong setting, an unknown option or a port that is taken stop it with 2", async () => {
    const wrong = start({ PORT: "x" });
    expect([await wrong.ended, wrong.output.error]).toEqual([
      2,
      'PORT: "x" given in the environment; allowed is an integer from 0 to 65535\n',
    ]);
    const unknown = start({}, "--chekc");
    expect([await unknown.ended, unknown.output.error]).toEqual([
      2,
      "--chekc: unknown option; allowed are --check, --help\n",
    ]);
    const taken = new URL(await httpUpstream(() => undefined)).port;
    const port = start({ PORT: taken });
    expect([await port.ended, port.output.error]).toEqual([
      2,
      `PORT, HOST: 127.0.0.1:${taken} cannot be listened on (EADDRINUSE); allowed is a free port of this machine\n`,
    ]);
  });

  test("--help ends with 0, --check with 0 over a sound legacy and 1 without one", async () => {
    const help = start({}, "--help");
    expect([await help.ended, help.output.out]).toEqual([0, expect.stringContaining("LEGACY_URL")]);
    const good = start({}, "--check");
    expect([await good.ended, good.output.out]).toEqual([0, expect.stringMatching(/getDataset iris +200/)]);
    const bad = start({ LEGACY_URL: "http://127.0.0.1:1" }, "--check");
    expect([await bad.ended, bad.output.out]).toEqual([1, expect.stringMatching(/FAIL +getDataset iris +502/)]);
  });
});
