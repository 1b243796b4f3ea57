import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

const sources = (directory: URL): string[] =>
  readdirSync(directory)
    .filter((file) => file.endsWith(".ts"))
    .toSorted();
const textOf = (directory: URL, file: string): string => readFileSync(new URL(file, directory), "utf8");

/**
 * A version for each endpoint, from the text of its file and of all that endpoints share: an answer that was kept by another version
 * is not this one's. `directory` holds one file an endpoint, of its name, and what they share.
 */
export const versionsOf = (names: readonly string[], directory: URL): Record<string, string> => {
  const own = new Set(names.map((name) => `${name}.ts`));
  const shared = [
    ...sources(directory)
      .filter((file) => !own.has(file))
      .map((file) => textOf(directory, file)),
    ...[new URL("../rules/", import.meta.url), new URL(".//", import.meta.url)].flatMap((place) =>
      sources(place).map((file) => textOf(place, file)),
    ),
  ];
  const common = hash("sha256", JSON.stringify(shared), "base64url");
  return Object.fromEntries(
    names.map((name) => [
      name,
      hash("sha256", JSON.stringify([common, textOf(directory, `${name}.ts`)]), "base64url").slice(0, 12),
    ]),
  );
};
