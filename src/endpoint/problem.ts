/** One entry of a 422: `at` is the place inside the field, e.g. the index in a list. */
export type Problem = { at: (string | number)[]; msg: string; type: string };

const problem = (msg: string, type: string): Problem => ({ at: [], msg, type });

export const notAnInteger = problem("value is not a valid integer", "type_error.integer");
export const notAText = problem("str type expected", "type_error.str");
export const notAList = problem("value is not a valid list", "type_error.list");
export const notAnObject = problem("value is not a valid dict", "type_error.dict");
export const missing = problem("field required", "value_error.missing");
export const extra = problem("extra fields not permitted", "value_error.extra");
export const notJson = problem("the body is not valid JSON", "value_error.jsondecode");
export const below = (least: number): Problem =>
  problem(`ensure this value is greater than or equal to ${least}`, "value_error.number.not_ge");
export const above = (most: number): Problem =>
  problem(`ensure this value is less than or equal to ${most}`, "value_error.number.not_le");
export const mismatch = (pattern: string): Problem =>
  problem(`string does not match regex "${pattern}"`, "value_error.str.regex");
export const reversed = problem("ensure the range goes from low to high", "value_error.str.regex");
export const tooLong = (most: number): Problem =>
  problem(`ensure this value has at most ${most} characters`, "value_error.any_str.max_length");
export const tooMany = (most: number): Problem =>
  problem(`ensure this value has at most ${most} items`, "value_error.list.max_items");
export const notOneOf = (values: readonly string[]): Problem =>
  problem(
    `value is not a valid enumeration member; permitted: ${values.map((value) => `'${value}'`).join(", ")}`,
    "type_error.enum",
  );
