import { inject } from "vitest";
import type { Endpoint } from "../../src/catalogue/endpoint/endpoint.ts";
import { endpoints } from "../../transforms/index.ts";
import { type Mutant, mutated } from "./mutants.ts";

declare module "vitest" {
  interface ProvidedContext {
    mutant: Pick<Mutant, "endpoint" | "steps" | "how">;
  }
}

// Before any test of the file runs: the tests see the tree with a planted fault.
const mutant = inject("mutant");
const endpoint = (endpoints as Record<string, Endpoint>)[mutant.endpoint];
if (endpoint) endpoint.output = mutated(endpoint.output, mutant);
