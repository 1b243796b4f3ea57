import type { LegacyPaths, LegacyWriteKnowledge } from "../src/catalogue/index.ts";

/**
 * The paths of legacy's interface. On the real server each of them set a tag, as did `/index.php/api/v1`, `/?/api/v1`
 * and `/index.php?/api/v1`.
 */
export const legacyPaths: LegacyPaths = {
  interfaces: ["/api/v1", "/api_new/v1"],
  frontController: "/index.php",
  longWords: ["evaluationmeasure", "estimationprocedure"],
  files: /\/(?:data\/+(?:v1\/+)?(?:download|get_csv)|api_splits\/+get)\//,
};

/** The requests of the legacy interface that write. */
export const legacyWrites: LegacyWriteKnowledge = {
  writes: {
    data: { kind: "dataset", fields: ["data_id", "dataset_id", "did"] },
    setup: { kind: "setup", fields: ["setup_id"] },
    // A deleted flow deletes its setups and, if forced, its runs.
    flow: { kind: "flow", fields: ["flow_id", "implementation_id"], deletes: ["setup", "run", "study"] },
    study: { kind: "study", fields: ["study_id"] },
    // A new run may add a setup; a deleted run leaves its studies.
    run: { kind: "run", fields: ["run_id"], adds: ["run", "setup"], deletes: ["study"] },
    task: { kind: "task", fields: ["task_id"], deletes: ["study"] },
  },
  /**
   * POSTs that write nothing: legacy treats them as GETs, and old Java clients read so. `study/ID/attach` and the like
   * do write.
   */
  reads: [
    /^\/\w+\/(?:(?:tag|qualities)\/)?list(?:\/|$)/,
    /^\/(?:data|task|flow|run|setup)\/\d+$/,
    /^\/data\/features\/\d+$/,
    /^\/data\/qualities\/\d+(?:\/\d+)?$/,
    /^\/data\/(?:qualities\/)?unprocessed\//,
    /^\/flow\/exists(?:\/|$)/,
    /^\/run\/trace\/\d+$/,
    /^\/setup\/(?:exists|partial)$/,
    /^\/study\/\d+(?:\/(?:data|tasks|flows|setups|runs))?$/,
    /^\/task\/inputs\/\d+$/,
  ],
  /** GETs that write: a reset deletes the record that a run was evaluated. */
  writingGets: [/^\/run\/reset\/\d+$/],
  /** POSTs that change values which lists hardly show: tags, and the results that the evaluation engine adds. */
  amendments: [/^\/\w+\/(?:un)?tag$/, /^\/run\/(?:evaluate|trace)$/, /^\/data\/(?:features|qualities)$/],
  /**
   * Codes that legacy answers before it reads the request, always in XML: unknown type, no key, wrong key, no right to
   * write, no database.
   */
  refusals: new Set([100, 102, 103, 104, 107]),
};

/**
 * Reads that legacy also accepts as a POST, by their paths: the names of the form's fields, whose values a GET has as
 * segments. A GET finds no name with `=` or `/`, so openml-python sends a POST.
 */
export const legacyFormReads: ReadonlyMap<string, readonly string[]> = new Map([
  ["/flow/exists", ["name", "external_version"]],
]);
