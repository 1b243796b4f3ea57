import type { User } from "../../../tools/sampleLegacy/catalogueRows.ts";

/** A caller: with or without a key, and the key's owner, if it has one. */
export type Caller = { name: string; key?: string; user?: User };

const person = (name: string, id: number, key: string, role: User["role"] = "normal") => ({
  name,
  key,
  user: { id, key, role },
});

export const administrator = person("administrator", 1, "AD000000000000000000000000000000", "administrator");
export const secondAdministrator = person(
  "second administrator",
  4,
  "AD400000000000000000000000000000",
  "administrator",
);
export const user = person("user", 2, "00000000000000000000000000000000");
export const owner = person("owner", 16, "DA1A0000000000000000000000000000");
export const otherOwner = person("other owner", 17, "0B0B0000000000000000000000000000");
export const readOnly = person("read-only", 3, "33333333333333333333333333333333", "read-only");
export const nobody: Caller = { name: "nobody" };
export const wrongKey: Caller = { name: "wrong key", key: "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF" };

/** The users of the bed's legacy. */
export const users: User[] = [administrator, secondAdministrator, user, owner, otherOwner, readOnly].map(
  (it) => it.user,
);
