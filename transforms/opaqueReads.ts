import { collection, entity, type OpaqueRead } from "../src/catalogue/index.ts";
import { fixed, lasting, listed, ofDataset } from "./lifetimes.ts";

const { groups: _, ...ofQualities } = ofDataset("24h");

/** The kinds of a study's members, by their names at legacy. */
const memberKinds: Record<string, string> = {
  data: "dataset",
  tasks: "task",
  flows: "flow",
  setups: "setup",
  runs: "run",
};

/**
 * Reads of old clients that have no endpoint. Ids are digits: a write would not find an answer under another spelling.
 */
export const opaqueReads: readonly OpaqueRead[] = [
  {
    // openml-python requests it after each list of evaluations, in a different order each time.
    name: "listUsers",
    path: /^\/user\/list\/user_id\/\d+(?:,\d+)*$/,
    lifetimes: { fresh: "1h", staleIfError: "7d" },
    groups: () => [collection("user")],
    isList: true,
    isUnordered: true,
  },
  {
    // The members of a legacy study follow from tags: they are as fresh as a list.
    name: "getStudyMembers",
    path: /^\/study\/(\d+)\/(data|tasks|flows|setups|runs)$/,
    lifetimes: { fresh: listed.fresh, staleIfError: "7d" },
    groups: (isFound, id, members = "") => [
      ...entity("study", Number(id), isFound),
      collection(memberKinds[members] as string),
    ],
  },
  {
    name: "getQualitiesByEngine",
    path: /^\/data\/qualities\/(\d+)\/\d+$/,
    lifetimes: ofQualities,
    groups: (isFound, id) => entity("dataset", Number(id), isFound),
  },
  {
    name: "getEstimationProcedure",
    path: /^\/estimationprocedure\/\d+$/,
    lifetimes: fixed,
    groups: () => [collection("estimationprocedure")],
  },
  {
    name: "getTaskInputs",
    path: /^\/task\/inputs\/(\d+)$/,
    lifetimes: lasting,
    groups: (isFound, id) => entity("task", Number(id), isFound),
  },
  {
    name: "getSchema",
    path: /^\/xsd\/[\w.-]+$/,
    lifetimes: { fresh: "1h", staleIfError: "7d" },
    groups: () => [collection("schema")],
  },
];
