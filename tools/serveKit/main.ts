#!/usr/bin/env node
import { type Choice, chosenPairs } from "../../fixtures/chosenPairs.ts";
import { legacyHandlers } from "../../fixtures/legacyHandlers.ts";
import { modernHandlers } from "../../fixtures/modernHandlers.ts";
import { withXmlForms } from "../../fixtures/xmlForms.ts";
import { kitUsage, readKitArguments } from "./arguments.ts";
import type { FixtureRequest } from "./closestPairs.ts";
import { serveKit } from "./serveKit.ts";

const refuse = (message: string): never => {
  console.error(message);
  process.exit(2);
};

const args = readKitArguments(process.argv.slice(2));
if ("help" in args) {
  console.log(kitUsage);
  process.exit(0);
}
if ("error" in args) refuse(args.error);
else {
  const { host, port, prefix, legacyPath, endpoints, example } = args;
  const choices: Choice[] = (endpoints.length > 0 ? endpoints : ["*"]).map((endpoint) => ({
    endpoint,
    ...(example === undefined ? {} : { example }),
  }));
  try {
    const pairs = choices.flatMap(chosenPairs);
    const known = pairs.flatMap((fixture): FixtureRequest[] => {
      const { endpoint, example: name, ask } = fixture;
      const pair = `${endpoint}/${name}`;
      const query = ask.query === undefined ? "" : `?${ask.query}`;
      const body = ask.json === undefined ? ask.text : JSON.stringify(ask.json);
      const sent = { ...(body === undefined ? {} : { body }), ...(ask.key === undefined ? {} : { key: ask.key }) };
      return [
        { pair, method: ask.method, target: prefix + ask.path + query, ...sent },
        ...withXmlForms(fixture).map(({ request: { method, path, form, key } }) => ({
          pair,
          method,
          target: legacyPath + path,
          ...(form === undefined ? {} : { body: new URLSearchParams(form).toString() }),
          ...(key === undefined ? {} : { key }),
        })),
      ];
    });
    const handlers = choices.flatMap((choice) => [
      ...modernHandlers(choice, prefix),
      ...legacyHandlers(choice, legacyPath),
    ]);
    const kit = await serveKit(handlers, known, { host, port });
    console.log(
      `${pairs.length} pairs: the new interface at ${kit.url}${prefix}, the legacy one at ${kit.url}${legacyPath}`,
    );
    const stop = (): void => void kit.close().then(() => process.exit(0));
    process.once("SIGINT", stop).once("SIGTERM", stop);
  } catch (error) {
    refuse((error as Error).message);
  }
}
