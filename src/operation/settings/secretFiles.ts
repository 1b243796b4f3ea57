import { fileSettingOf, type GivenSetting } from "./givenSetting.ts";
import { readText } from "./readText.ts";

/** The largest file with a secret, in bytes. */
const MAX_BYTES = 64 * 1024;

/**
 * Replaces each `..._FILE` by the secret in that file, without the newline at its end. Returns an error for each secret
 * that cannot be read.
 */
export const readSecretFiles = (
  given: Map<string, GivenSetting>,
  secrets: ReadonlySet<string>,
): ReadonlyMap<string, string> => {
  const wrong = new Map<string, string>();
  for (const secret of secrets) {
    const name = fileSettingOf(secret);
    const fileSetting = given.get(name);
    if (fileSetting === undefined) continue;
    given.delete(name);
    const { value: path, from } = fileSetting;
    const named = `${name}: ${JSON.stringify(path)} given ${from}`;
    const allowed = "; allowed is the path of a file with the secret";
    const read = typeof path === "string" && path !== "" ? readText(path, MAX_BYTES) : undefined;
    const text = read && "text" in read ? read.text.replace(/\r?\n$/, "") : "";
    if (given.has(secret)) wrong.set(secret, `${name}: given ${from}, and ${secret} as well; allowed is one of them`);
    else if (read === undefined) wrong.set(secret, named + allowed);
    else if ("why" in read) wrong.set(secret, `${named} cannot be read (${read.why})${allowed}`);
    else if (text === "") wrong.set(secret, `${named} is empty${allowed}`);
    else given.set(secret, { value: text, from: `in the file that ${name} names` });
  }
  return wrong;
};
