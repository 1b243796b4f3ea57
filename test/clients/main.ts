import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../../src/serve/server.ts";
import { pythonTypes } from "../../src/tools/client/pythonTypes.ts";
import { onlyHelp } from "../../src/tools/onlyHelp.ts";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { endpoints } from "../../transforms/index.ts";
import { gatewayFor } from "../support/gateway.ts";

onlyHelp(`npm run clients
  Runs published clients against the gateway over the sample legacy, as far as they are installed.
  Exit codes: 0 all that are installed work, 1 one fails.`);

const file = `@relation iris
@attribute sepallength numeric
@attribute sepalwidth numeric
@attribute petallength numeric
@attribute petalwidth numeric
@attribute class {Iris-setosa,Iris-versicolor,Iris-virginica}
@data
${["5.1,3.5,1.4,0.2,Iris-setosa", "7.0,3.2,4.7,1.4,Iris-versicolor", "6.3,3.3,6.0,2.5,Iris-virginica"]
  .flatMap((row) => Array.from({ length: 50 }, () => row))
  .join("\n")}
`;
const md5 = createHash("md5").update(file).digest("hex");

/** The sample legacy with a file for its dataset 61, whose digest the description then has. */
const startLegacyWithFile = async () => {
  const sample = await startSampleLegacy();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === "/data/v1/download/61") {
      response.end(file);
      return;
    }
    const answered = await fetch(sample.url + request.url);
    const body = (await answered.text()).replace(/"md5_checksum":"\w+"/, `"md5_checksum":"${md5}"`);
    response.writeHead(answered.status, { "Content-Type": answered.headers.get("content-type") ?? "" }).end(body);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await sample.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sample: sample.url, close };
};

const pythons = ["python3", "/usr/bin/python3"];
const can = (program: string, ...args: string[]): boolean => {
  try {
    execFileSync(program, args, { stdio: "ignore", timeout: 60_000 });
    return true;
  } catch {
    return false;
  }
};
/** The first Python that has this module. */
const pythonWith = (module: string): string | undefined => pythons.find((one) => can(one, "-c", `import ${module}`));

/** Resolves with the exit code. Not `execFileSync`: the servers are in this process. */
const run = (program: string, args: string[], environment: NodeJS.ProcessEnv = {}): Promise<number | null> =>
  new Promise((resolve) => {
    const env = { ...process.env, ...environment };
    spawn(program, args, { stdio: "inherit", env, timeout: 120_000 }).once("close", resolve);
  });

const script = (name: string): string => join(import.meta.dirname, name);
const folder = mkdtempSync(join(tmpdir(), "clients-"));
const failed: string[] = [];
const tryOut = async (name: string, python: string | undefined, needs: string, args: string[]): Promise<void> => {
  if (python === undefined) {
    console.log(`${name}: not run, ${needs} is not installed`);
    return;
  }
  const code = await run(python, args, { PYTHONPATH: folder });
  if (code !== 0) failed.push(name);
};

const legacy = await startLegacyWithFile();
const open = async (url: string) => {
  const gateway = await gatewayFor(url);
  const server = await startServer(gateway, { host: "127.0.0.1", port: 0, prefixes: ["/v1"] });
  const close = async (): Promise<void> => {
    await server.stop(1000);
    await gateway.close();
  };
  return { origin: `http://127.0.0.1:${server.port}`, close };
};
const withFile = await open(legacy.url);
const plain = await open(legacy.sample);
try {
  await tryOut("fetch_openml", pythonWith("sklearn"), "scikit-learn", [script("fetchOpenml.py"), withFile.origin]);
  writeFileSync(join(folder, "catalog_types.py"), await pythonTypes(endpoints));
  const python = pythonWith("pydantic");
  await tryOut("the Python types", python, "pydantic", [script("pythonTypes.py"), `${plain.origin}/v1`]);
  const reading = `import openml; openml.config.server = "${plain.origin}/api/v1/xml"; print(openml.__version__, openml.datasets.get_dataset(61, download_data=False).name)`;
  await tryOut("openml-python", pythonWith("openml"), "openml", ["-c", reading]);
  if (!can("Rscript", "-e", "library(mlr3oml)")) console.log("mlr3oml: not run, R with mlr3oml is not installed");
  else if (
    (await run("Rscript", ["-e", `options(mlr3oml.server = "${plain.origin}/api/v1"); mlr3oml::odt(61)$name`])) !== 0
  )
    failed.push("mlr3oml");
} finally {
  await Promise.all([withFile.close(), plain.close()]);
  await legacy.close();
  rmSync(folder, { recursive: true });
}
console.log(failed.length === 0 ? "All clients that are installed work." : `Failed: ${failed.join(", ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
