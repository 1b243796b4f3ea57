import { spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../support/freePort.ts";
import { openPipe } from "../../operation/telemetry/support.ts";
import { get, httpUpstream, send } from "../proxy/support.ts";
import { until } from "../../support/waiting.ts";

/** The real program, whose two outputs go into pipes that are full already. */
const startWithFullPipes = async (environment: Record<string, string>) => {
  const [out, error] = [openPipe(), openPipe()];
  for (const pipe of [out, error]) pipe.fill();
  const [port, adminPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, ["src/main.ts"], {
    env: {
      PATH: process.env["PATH"],
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      DRAIN_DELAY_MS: "0",
      ...environment,
    },
    stdio: ["ignore", out.writer(true), error.writer(true)],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise<number | null>((resolve) => void child.once("close", resolve));
  // Its output cannot say that it listens.
  await until(async () => (await send(adminPort, get("/readyz"))).head !== "");
  return { child, ended, port, adminPort, error };
};

/** The pass-through failures that log lines report: one per line, or the number suppressed in a second. */
const failuresIn = (lines: readonly string[]): number =>
  lines
    .map((line) => JSON.parse(line) as { event: string; suppressed?: number })
    .filter(({ event }) => event === "pass_through_failed")
    .reduce((sum, { suppressed = 1 }) => sum + suppressed, 0);

test("a log without a reader stops neither the answers nor the end of the process", async () => {
  const url = await httpUpstream((request, response) =>
    request.url === "/good" ? response.end("good") : response.socket?.destroy(),
  );
  const { child, ended, port, adminPort, error } = await startWithFullPipes({ LEGACY_URL: url });
  const path = `/${"p".repeat(8000)}`;
  for (let i = 0; i < 30; i++) expect((await send(port, get(path))).head).toMatch(/^HTTP\/1\.1 502 /);
  for (let id = 1; id < 30; id++) await send(port, get(`/v1/datasets/${id}`));
  expect((await send(port, get("/good"))).body).toBe("good");
  expect(await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()).toMatch(
    /^catalog_gateway_log_lines_dropped_total 0$/m,
  );

  let text = "";
  let lines: string[] = [];
  await until(() => {
    text += error.read();
    lines = text.replace(/^x*/, "").split("\n").slice(0, -1);
    return failuresIn(lines) === 30;
  });
  expect(lines[0]).toContain('"event":"pass_through_failed"');
  expect(lines.every((line) => line.length < 1500)).toBe(true);

  error.fill();
  await send(port, get("/bad"));
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
});
