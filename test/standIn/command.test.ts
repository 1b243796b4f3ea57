import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readArguments } from "./program/arguments.ts";
import { until } from "../support/waiting.ts";
import { sidesFor } from "./support.ts";

const main = join(import.meta.dirname, "./program/main.ts");

const start = (...args: string[]) => {
  const child = spawn(process.execPath, [main, ...args]);
  const output = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => void (output.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => void (output.err += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => void child.on("close", resolve));
  return { child, output, ended };
};

test("prints its URL, answers with the given faults, and reports them at its end", async () => {
  const { legacy } = await sidesFor();
  const fault = JSON.stringify({ endpoint: "getDataset", fault: "wrongType", path: "/version" });
  const { child, output, ended } = start("--legacy", legacy.url, "--path", "/v2", "--fault", fault);
  await until(() => output.out.includes("\n"));
  expect(output.out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v2\n$/);
  const answer = await fetch(`${output.out.trim()}/datasets/61`);
  expect(await answer.json()).toMatchObject({ id: 61, version: "1" });
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
  expect(JSON.parse(output.out.split("\n")[1] as string)).toMatchObject({ faults: ["wrongType"], path: "/version" });
  expect(output.err).toBe("");
});

test("prints help and errors", async () => {
  const [help, none] = [start("--help"), start()];
  expect([await help.ended, await none.ended]).toEqual([0, 2]);
  expect(help.output.out).toContain("dripping");
  expect(none.output.err).toBe("--legacy: needed is the origin of a legacy server, such as http://127.0.0.1:8080\n");
});

const legacy = ["--legacy", "http://legacy.example"];

test.each<[string[], string]>([
  [["--legacy", "legacy.example"], "--legacy"],
  [[...legacy, "--port", "70000"], "--port: 70000"],
  [[...legacy, "--path", "v1"], "--path: v1"],
  [[...legacy, "--fault", "{"], "--fault: { is no JSON"],
  [[...legacy, "--fault", '{"endpoint":"*","fault":"tired"}'], "fault Invalid option"],
  [[...legacy, "--fault", '{"endpoint":"getData","fault":"late"}'], "getData; allowed are *, getDataset"],
  [[...legacy, "--colour"], "--colour"],
])("%j", (args, said) => {
  expect(readArguments(args)).toEqual({ errors: [expect.stringContaining(said)] });
});
