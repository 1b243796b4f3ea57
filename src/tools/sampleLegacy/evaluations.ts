import type { Handler } from "./call.ts";
import { sampleCatalogue } from "./catalogue.ts";
import type { ProcedureRow } from "./catalogueRows.ts";
import { type LegacyElement, element } from "./renderXml.ts";

const describe = (row: ProcedureRow): LegacyElement =>
  element(
    "estimationprocedure",
    Object.entries(row).map(([name, value]) => element(name, `${value}`)),
  );

/** `estimationprocedure/list` */
export const estimationProcedureList: Handler = () => ({
  root: element("estimationprocedures", sampleCatalogue.estimationProcedures.map(describe)),
});

/** `estimationprocedure/{id}` */
export const estimationProcedureById: Handler = ({ segments: [segment] }) => {
  if (segment === "0") return { error: 730 };
  const row = sampleCatalogue.estimationProcedures.find(({ id }) => id === Number(segment));
  return row ? { root: describe(row) } : { error: 731 };
};

/** `evaluationmeasure/list` */
export const evaluationMeasureList: Handler = () => {
  const measures = sampleCatalogue.evaluationMeasures.map((name) => element("measure", name));
  return { root: element("evaluation_measures", [element("measures", measures)]), layout: { indent: "\t" } };
};

/** `evaluation/request/…`: checks for admin rights first, then refuses every filter. */
export const evaluationRequest: Handler = ({ caller }) =>
  caller?.role === "administrator"
    ? { error: 1011, about: "Legal filter operators: ttid,task,tag,uploader,setup. Found illegal filter: none" }
    : { error: 106 };
