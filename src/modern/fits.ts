import type { z } from "zod";
import type { Form } from "../compare/difference.ts";
import type { Ledger } from "../compare/ledger.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Json } from "../rules/rule.ts";

type Issue = z.core.$ZodIssue;

/**
 * Whether a document of modern's is what the endpoint promises, but for what the ledger of expected differences allows:
 * the pointer of the first place that is neither, `undefined` where it fits.
 */
export const firstMisfit = (
  { name, output }: Pick<Endpoint, "output"> & { name: string },
  ledger: Ledger,
  document: Json,
): string | undefined => {
  const { error } = output.schema.safeParse(document);
  const issue = error?.issues.find((one) => !isAllowed(name, ledger, document, one));
  return issue && `/${issue.path.join("/")}`;
};

const isAllowed = (endpoint: string, ledger: Ledger, document: Json, issue: Issue): boolean => {
  const { candidate, path } = placeOf(document, issue.path);
  return formsOf(issue, candidate).some(
    (form) =>
      ledger.allowing(endpoint, { path, form, ...(candidate === undefined ? {} : { candidate }) }) !== undefined,
  );
};

/** As a comparison tells them. What should stand there is not known: where a field may be absent, it may be one too many. */
const formsOf = ({ code }: Issue, candidate: Json | undefined): Form[] => {
  if (candidate === undefined) return ["missing"];
  if (code === "invalid_type") return ["type", "extra"];
  // What is nested too deep is never passed on.
  return code === "custom" ? [] : ["value"];
};

/** The value that an issue is about, and its path as the ledger writes it: `*` for the entries of a list. */
const placeOf = (document: Json, steps: readonly PropertyKey[]): { path: string; candidate: Json | undefined } => {
  let candidate: Json | undefined = document;
  let path = "";
  for (const step of steps) {
    const within: Json | undefined = candidate;
    path += Array.isArray(within) ? "/*" : `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    candidate =
      typeof within === "object" && within !== null && Object.hasOwn(within, step)
        ? (within as Record<PropertyKey, Json>)[step]
        : undefined;
  }
  return { path, candidate };
};
