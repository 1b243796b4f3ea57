import type { z } from "zod";

/** Where something is wrong, and what stands there. */
export type Place = { name: string; value: unknown };

/** `DEPRECATED[0].since` where it is about a field within a list; of any other the setting as a whole. */
export const placesOf = ({ path, ...issue }: z.core.$ZodIssue, value: unknown): Place[] => {
  const [setting, index, ...rest] = path;
  const whole = { name: String(setting), value };
  if (typeof index !== "number" || !Array.isArray(value)) return [whole];
  const fields = issue.code === "unrecognized_keys" ? issue.keys : rest.slice(0, 1);
  const item = value[index] as Record<PropertyKey, unknown>;
  return fields.length === 0
    ? [whole]
    : fields.map((field) => ({ name: `${whole.name}[${index}].${String(field)}`, value: item[field] }));
};
