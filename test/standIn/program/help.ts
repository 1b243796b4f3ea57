import { endpoints } from "../../../transforms/index.ts";
import { faultSchema } from "./fault.ts";

/** What `--help` prints. */
export const helpText = (): string => {
  const { fault, endpoint: _, ...others } = faultSchema.shape;
  return [
    "Stands in for the modern backend: answers the new interface out of a legacy server, as wrong as it is told to be.",
    "",
    "  node test/standIn/program/main.ts --legacy http://127.0.0.1:8080 --port 9000 \\",
    `    --fault '{"endpoint": "getDataset", "fault": "wrongType", "path": "/version"}' \\`,
    `    --fault '{"endpoint": "*", "fault": "late", "ms": 2000, "share": 5}'`,
    "",
    "  --legacy URL   the legacy server",
    "  --port N       where to listen on loopback; else any free one",
    "  --path PATH    where the new interface begins; else /v1",
    "  --fault JSON   what is wrong; may be given again",
    "  --reference    only the routes of the public reference implementation, in its shapes",
    "  --help         this text",
    "",
    "A fault is an object:",
    `  endpoint  ${["*", ...Object.keys(endpoints)].join(", ")}`,
    `  fault     ${fault.options.join(", ")}`,
    ...Object.entries(others).map(([name, field]) => `  ${name.padEnd(9)} ${field.description}`),
    "",
    "Of the faults of one answer the first of the connection comes alone, then the first of the whole answer;",
    "those of its document come together. At SIGINT or SIGTERM it prints what it has planted, and stops.",
    "",
  ].join("\n");
};
