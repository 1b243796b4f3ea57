// Prints the bill of materials of production. npm makes it from a separate lock file: from the clone's, it would leave
// out dependencies that development also uses, and miss those that `--omit=dev` has not installed.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import about from "../../package.json" with { type: "json" };
import { writeJson } from "../compile.ts";
import { productionLock } from "./productionLock.ts";

const { name, version, description, license, dependencies, overrides } = about;
const manifest = { name, version, description, license, dependencies, overrides };
const temporary = mkdtempSync(join(tmpdir(), "sbom-"));
// npm names the described package after its folder.
const folder = join(temporary, name);
try {
  mkdirSync(folder);
  writeJson(join(folder, "package.json"), manifest);
  writeJson(join(folder, "package-lock.json"), productionLock(manifest));
  execFileSync("npm", ["sbom", "--sbom-format=cyclonedx", "--package-lock-only"], { cwd: folder, stdio: "inherit" });
} finally {
  rmSync(temporary, { recursive: true });
}
