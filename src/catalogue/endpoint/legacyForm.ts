import type { Json, JsonObject } from "../rules/rule.ts";

/** A format of legacy's answers. */
export type LegacyFormat = "json" | "xml";

/** The form in which legacy writes the documents of an endpoint. Its rules do not need it to read them. */
export type LegacyForm = {
  /**
   * The elements of legacy's document, in its order, with those inside in braces:
   * `task{task_id name? input*{@name data_set?{did} =value}}`.
   *
   * | notation | meaning |
   * | --- | --- |
   * | `name` | always there, empty without a value |
   * | `name?` | left out without a value; an empty text is a value |
   * | `name*`, `name+` | once for each value; `+` at least once. A template always writes a list |
   * | `name*?` | the same as `*`, but a template leaves out an empty list |
   * | `@name`, `=value` | an attribute, left out without a value; the text beside attributes, which is `value` |
   * | `#name` | a template writes it as a number, or a list of numbers |
   * | `name/xml`, `name/json` | only this format has it |
   * | `name="-1"` | always this text |
   * | `name^` | the same elements inside as in the element around it with this name |
   */
  elements: string;
  /** Legacy writes the JSON with a template, with lists and numbers, and does not make it from the XML. */
  isTemplate?: true;
  /** Changes the document that the rules write, if legacy's differs. */
  adapt?: (legacy: JsonObject, format: LegacyFormat) => JsonObject;
  /** Legacy's codes for outcomes that have another code in the new interface, by that code. */
  codes?: Readonly<Record<string, string>>;
  /**
   * Values of legacy's XML that our rows lack: the endpoint that has them, its inputs for these rows of ours, and
   * legacy's document with the values of the rows that these answer. `undefined`: a row lacks its value.
   */
  complete?: {
    endpoint: string;
    inputs: (ours: readonly Json[]) => Record<string, unknown>[];
    into: (legacy: JsonObject, rows: readonly Json[]) => JsonObject | undefined;
  };
  /** Legacy refuses this list if it has no filter. */
  needsFilter?: true;
  /** The most rows of a page of the new interface; a list of legacy without a limit has all rows. */
  page?: number;
  /** Our document for "not found", if legacy does not answer with an error. */
  none?: JsonObject;
  /**
   * The losses of old clients if our document is written in legacy's form: for each place, as `lossesOf` names it, a
   * sentence with the reason.
   */
  losses?: Readonly<Record<string, string>>;
  /** Nearly every answer loses a field. The setting that moves old clients then has to name the endpoint. */
  isNamedOnly?: true;
};

/** An element of legacy's document, an attribute, or the text beside attributes; `path`: `task.input.name`. */
export type Shape = {
  name: string;
  path: string;
  is: "element" | "attribute" | "text";
  /** The number of times that it stands there, as in the notation of `elements`. */
  times: "" | "?" | "*" | "*?" | "+";
  /** A template writes it without quotes. */
  isNumber: boolean;
  /** The only format that has it. */
  only: LegacyFormat | undefined;
  /** The text that legacy always writes. */
  constant: string | undefined;
  /** The shapes inside; `undefined`: a text. */
  inside: Shape[] | undefined;
};

const token = /\s*(?:\}|([@=#]?)(\w+)(?:\/(json|xml))?(?:="([^"]*)")?(\*\?|[?*+^])?(\{)?)\s*/y;
const kinds: Record<string, Shape["is"]> = { "@": "attribute", "=": "text" };

/**
 * The root element of a form.
 *
 * @throws An Error if the text departs from the notation of `elements`.
 */
export const shapeOf = ({ elements }: LegacyForm): Shape => {
  const unreadable = new Error(`a form cannot be read: ${elements}`);
  const open: Pick<Shape, "name" | "path" | "inside">[] = [{ name: "", path: "", inside: [] }];
  for (token.lastIndex = 0; token.lastIndex < elements.length;) {
    const [found, sign = "", name, only, constant, times = "", brace] = token.exec(elements) ?? [];
    const around = open.at(-1);
    if (found === undefined || around?.inside === undefined) throw unreadable;
    if (name === undefined) {
      open.pop();
      continue;
    }
    const inner: Shape = {
      name,
      path: around.path === "" ? name : `${around.path}.${name}`,
      is: kinds[sign] ?? "element",
      times: sign === "@" ? "?" : times === "^" ? "" : (times as Shape["times"]),
      isNumber: sign === "#",
      only: only as LegacyFormat | undefined,
      constant,
      inside: times === "^" ? open.find((outer) => outer.name === name)?.inside : brace === undefined ? undefined : [],
    };
    around.inside.push(inner);
    if (brace !== undefined) open.push(inner);
  }
  const [root] = open[0]?.inside ?? [];
  if (open.length !== 1 || root === undefined) throw unreadable;
  return root;
};
