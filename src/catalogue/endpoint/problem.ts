/** One entry of a 422: `at` is the place inside the field, e.g. the index in a list. */
export type Problem = { at: (string | number)[]; msg: string; type: string };

/** A problem with its whole place in the request. */
export type InputError = { loc: (string | number)[]; msg: string; type: string };

/** The problem with this message and type, at the field itself. */
const problem = (msg: string, type: string): Problem => ({ at: [], msg, type });

export const notAnInteger = problem("value is not a valid integer", "type_error.integer");
export const notABoolean = problem("value could not be parsed to a boolean", "type_error.bool");
export const notAText = problem("str type expected", "type_error.str");
export const notAList = problem("value is not a valid list", "type_error.list");
export const notAnObject = problem("value is not a valid dict", "type_error.dict");
export const missing = problem("field required", "value_error.missing");
/** A field that the endpoint does not have; it has these. */
export const extra = (allowed: readonly string[]): Problem =>
  problem(`extra fields not permitted; allowed: ${allowed.join(", ") || "none"}`, "value_error.extra");
/** A query parameter that is a field elsewhere: in the JSON body or in the path. */
export const elsewhere = (allowed: readonly string[], place: string): Problem =>
  problem(`extra fields not permitted; allowed: ${allowed.join(", ")}; give it ${place}`, "value_error.extra");
/** A field that was given twice. */
export const repeated = problem("extra fields not permitted; the field was given before", "value_error.extra");
export const notJson = problem("the body is not valid JSON", "value_error.jsondecode");
/** A number below `least`. */
export const below = (least: number): Problem =>
  problem(`ensure this value is greater than or equal to ${least}`, "value_error.number.not_ge");
/** A number above `most`. */
export const above = (most: number): Problem =>
  problem(`ensure this value is less than or equal to ${most}`, "value_error.number.not_le");
/** A text that does not match. */
export const mismatch = (pattern: string): Problem =>
  problem(`string does not match regex "${pattern}"`, "value_error.str.regex");
/** A text that matches, and that the field does not take for this reason. */
export const unusable = (why: string): Problem => problem(why, "value_error.str.regex");
/** A range that goes from high to low. */
export const reversed = problem("ensure the range goes from low to high", "value_error.str.regex");
/** A text of more than `most` characters. */
export const tooLong = (most: number): Problem =>
  problem(`ensure this value has at most ${most} characters`, "value_error.any_str.max_length");
/** Fields that share `most` characters, and have more. */
export const tooLongTogether = (names: readonly string[], most: number): Problem =>
  problem(
    `ensure ${names.slice(0, -1).join(", ")} and ${names.at(-1)} have at most ${most} characters together`,
    "value_error.any_str.max_length",
  );
/** A list of fewer than `least` entries. */
export const tooFew = (least: number): Problem =>
  problem(`ensure this value has at least ${least} items`, "value_error.list.min_items");
/** A list of more than `most` entries. */
export const tooMany = (most: number): Problem =>
  problem(`ensure this value has at most ${most} items`, "value_error.list.max_items");
/** A value beside these. */
export const notOneOf = (values: readonly string[]): Problem =>
  problem(
    `value is not a valid enumeration member; permitted: ${values.map((value) => `'${value}'`).join(", ")}`,
    "type_error.enum",
  );
