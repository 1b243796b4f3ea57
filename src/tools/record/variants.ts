import { observeFields, type SeenFields } from "../../compare/fields.ts";
import type { JsonObject, Rule } from "../../rules/rule.ts";

/**
 * The variants one legacy document shows of a rule tree: at each place of our document, what legacy's value there is
 * (`/creator text`, `/tag none`, `/data_ids many`). Fields that no rule reads are variants too.
 */
export const variantsOf = (rule: Rule, document: JsonObject): Set<string> => {
  const fields: SeenFields = {};
  observeFields(rule, document, fields);
  return new Set(
    Object.entries(fields).flatMap(([path, { seen }]) => Object.keys(seen).map((seenAs) => `${path} ${seenAs}`)),
  );
};
