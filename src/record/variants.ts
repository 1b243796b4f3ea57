import { own } from "../rules/compose.ts";
import { isObject, type Json, type JsonObject, type Rule } from "../rules/rule.ts";

/**
 * The variants one legacy document shows of a rule tree: at each place of our document, what legacy's value there is
 * (`/creator text`, `/tag none`, `/data_ids(data_id) many`). Fields that no rule knows are variants too.
 */
export const variantsOf = (rule: Rule, document: JsonObject): Set<string> => {
  const found = new Set<string>();
  see(rule, document, "", found);
  return found;
};

/** `within` names the wrapper a value was taken out of: its place in our document is the wrapper's own. */
const see = (rule: Rule, legacy: Json | undefined, at: string, found: Set<string>, within = ""): void => {
  found.add(`${at === "" ? "/" : at}${within} ${kindOf(legacy)}`);
  seeInside(rule, legacy, at, found);
};

const seeInside = (rule: Rule, legacy: Json | undefined, at: string, found: Set<string>): void => {
  for (const [place, inner] of Object.entries(rule.inside ?? {}))
    if (place === "*") for (const entry of Array.isArray(legacy) ? legacy : []) see(inner, entry, `${at}/*`, found);
    else if (place === "" && rule.wrapper === undefined) seeInside(inner, legacy, at, found);
    else if (!isObject(legacy)) continue;
    else if (place !== "") see(inner, own(legacy, inner.from ?? place), `${at}/${place}`, found);
    else see(inner, own(legacy, rule.wrapper as string), at, found, `(${rule.wrapper})`);
  seeUnknown(rule, legacy, at, found);
};

const seeUnknown = ({ inside = {} }: Rule, legacy: Json | undefined, at: string, found: Set<string>): void => {
  const members = Object.entries(inside).filter(([place]) => place !== "" && place !== "*");
  if (members.length === 0 || !isObject(legacy)) return;
  const known = new Set(members.map(([place, inner]) => inner.from ?? place));
  for (const [name, value] of Object.entries(legacy))
    if (!known.has(name)) found.add(`${at}/${name} unknown ${kindOf(value)}`);
};

const kindOf = (legacy: Json | undefined): string => {
  if (legacy === undefined) return "none";
  if (legacy === null) return "null";
  if (legacy === "") return "empty text";
  if (Array.isArray(legacy)) return legacy.length === 0 ? "empty" : legacy.length === 1 ? "one" : "many";
  return typeof legacy === "string" ? "text" : typeof legacy;
};
