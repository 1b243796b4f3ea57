import { own } from "../rules/compose.ts";
import { isObject, type Json, type JsonObject } from "../rules/rule.ts";

/** The most places that are named of a document, and the characters of one. */
const MAX_PLACES = 20;
const MAX_PLACE = 200;

/**
 * The places at which a document that we write for old clients departs from legacy's: `/flow/parameter/name`, at most
 * 20. An entry of a list has the place of the list. Members in another order are a departure of their object; a number
 * that is spelled differently is not.
 */
export const lossesOf = (legacy: JsonObject, written: JsonObject): string[] => {
  const places = new Set<string>();
  compare(legacy, written, "", places);
  return [...places];
};

const compare = (legacy: Json | undefined, written: Json | undefined, at: string, places: Set<string>): void => {
  if (legacy === written || isSameNumber(legacy, written) || places.size >= MAX_PLACES) return;
  if (isObject(legacy) && isObject(written)) compareMembers(legacy, written, at, places);
  else if (Array.isArray(legacy) && Array.isArray(written) && legacy.length === written.length)
    for (let i = 0; i < legacy.length; i++) compare(legacy[i], written[i], at, places);
  else places.add(placeOf(at));
};

/** The place that is named: in elements inside those of the same kind, such as components, that of the outermost. */
const placeOf = (at: string): string => {
  const steps: string[] = [];
  for (const step of at.split("/")) {
    steps.push(step);
    const isRepeated = steps.length > 4 && steps.at(-1) === steps.at(-3) && steps.at(-2) === steps.at(-4);
    if (isRepeated) steps.length -= 2;
  }
  return steps.join("/").slice(0, MAX_PLACE);
};

const compareMembers = (legacy: JsonObject, written: JsonObject, at: string, places: Set<string>): void => {
  const names = Object.keys(legacy);
  const others = Object.keys(written);
  const isAlike = names.length === others.length && names.every((name, i) => name === others[i]);
  if (
    !isAlike &&
    names.filter((name) => Object.hasOwn(written, name)).join() !==
      others.filter((name) => Object.hasOwn(legacy, name)).join()
  )
    places.add(placeOf(at));
  for (const name of isAlike ? names : new Set([...names, ...others]))
    compare(own(legacy, name), own(written, name), `${at}/${name}`, places);
};

/** Also of texts that hold lists of numbers. */
const isSameNumber = (legacy: Json | undefined, written: Json | undefined): boolean =>
  typeof legacy === "string" &&
  typeof written === "string" &&
  (Number(legacy) === Number(written) || (legacy.startsWith("[") && respelled(legacy) === respelled(written))) &&
  [legacy, written].every((text) => hasNumbersOnly.test(text));

const hasNumbersOnly = /^(?=.*\d)[\s\d.eE+?,[\]-]+$/;
const respelled = (list: string): string =>
  list.replaceAll(/,\s+/g, ",").replaceAll(/[^,[\]?]+/g, (entry) => String(Number(entry)));
