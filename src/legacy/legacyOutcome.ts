import type { LegacyError, Outcome } from "../endpoint/outcome.ts";
import type { LegacyReading } from "./reading.ts";

type CodedError = Extract<LegacyReading, { is: "error" }>;

export type ErrorTable = ReadonlyMap<number, LegacyError>;

/** What a legacy error is told as: the code decides, never the status it came with. */
export const outcomeOf = (error: CodedError, table: ErrorTable): Outcome => {
  const row = table.get(error.code);
  if (row === undefined) return { kind: "unknown", ...told(error) };
  if (row.kind === "misasked")
    return { kind: row.kind, message: "The legacy interface did not understand what it was asked." };
  const shown = row.as === undefined ? undefined : table.get(row.as);
  if (shown) return { kind: row.kind, code: String(shown.code), message: shown.message };
  return { kind: row.kind, ...told(error) };
};

const told = ({ code, message, additional }: CodedError) => ({
  code: String(code),
  message,
  ...(additional === undefined ? {} : { additional }),
});

/** An unknown code keeps legacy's class: a 4xx as it was sent, anything else is a broken upstream. */
export const ownStatusOf = (outcome: Outcome, legacyStatus: number): number | undefined =>
  outcome.kind === "unknown" && legacyStatus >= 400 && legacyStatus < 500 ? legacyStatus : undefined;
