import { fileSettingOf, type GivenSetting } from "./givenSetting.ts";
import { readText } from "./readText.ts";

/** Bytes of a file with a secret at most. */
const MAX_BYTES = 64 * 1024;

/** Replaces each `..._FILE` by the secret in that file, without the newline at its end. Returns what is wrong. */
export const readSecretFiles = (given: Map<string, GivenSetting>, secrets: ReadonlySet<string>): string[] => {
  const errors: string[] = [];
  for (const secret of secrets) {
    const name = fileSettingOf(secret);
    const fileSetting = given.get(name);
    if (fileSetting === undefined) continue;
    given.delete(name);
    const { value: path, from } = fileSetting;
    const allowed = "allowed is the path of a file with the secret";
    const read = typeof path === "string" && path !== "" ? readText(path, MAX_BYTES) : undefined;
    if (given.has(secret)) errors.push(`${name}: given ${from}, and ${secret} as well; allowed is one of them`);
    else if (read === undefined) errors.push(`${name}: ${JSON.stringify(path)} given ${from}; ${allowed}`);
    else if ("why" in read)
      errors.push(`${name}: ${JSON.stringify(path)} given ${from} cannot be read (${read.why}); ${allowed}`);
    else given.set(secret, { value: read.text.replace(/\r?\n$/, ""), from: `in the file that ${name} names` });
  }
  return errors;
};
