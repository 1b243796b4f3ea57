import { z } from "zod";
import type { LedgerEntry } from "../../../compare/ledger.ts";
import { asTexts, readAs } from "../../sharedCache/texts.ts";
import type { Move, StageInForce } from "../stage.ts";
import { expectedSchema, moveSchema, stageInForceSchema } from "./schemas.ts";
import type { MigrationState } from "./stateStore.ts";

/** The state as instances share it: how many changes it has seen, and at which of them each stage was set. */
export type SharedState = {
  version: number;
  stages: Record<string, { version: number; stage: StageInForce }>;
  audit: Move[];
  expected: LedgerEntry[];
};

/** What Redis has; `fingerprint` is another one after every change. Values that are none of ours are named where they stand, as they are. */
export type Stored = SharedState & {
  fingerprint: string;
  unreadable: { stages: string[]; audit: string[]; expected: string[] };
};

export const nothingShared: SharedState = { version: 0, stages: {}, audit: [], expected: [] };

export const plain = ({ stages, audit, expected }: SharedState): MigrationState => ({
  stages: Object.fromEntries(Object.entries(stages).map(([endpoint, { stage }]) => [endpoint, stage])),
  audit,
  expected,
});

const stageSchema = z.strictObject({ version: z.int().min(0), stage: stageInForceSchema });

/** The reply of `scripts.read`: a fingerprint, two hashes as lists of fields and values, and a list between them. */
const replySchema = z.tuple([z.string(), z.array(z.string()), z.array(z.string()), z.array(z.string())]);

export const readStored = (reply: unknown): Stored => {
  const [fingerprint, stageTexts, audit, expectedTexts] = replySchema.parse(asTexts(reply));
  const stages = split(stageTexts, (text) => readAs(stageSchema, text));
  const expected = split(expectedTexts, (text, id) => {
    const entry = readAs(expectedSchema, text);
    return entry?.id === id ? entry : undefined;
  });
  const moves = audit.map((text) => [text, readAs(moveSchema, text)] as const);
  return {
    fingerprint,
    version: Number.parseInt(fingerprint, 10) || 0,
    stages: Object.fromEntries(stages.good),
    audit: moves.flatMap(([, move]) => move ?? []),
    expected: expected.good.map(([, entry]) => entry),
    unreadable: {
      stages: stages.bad,
      audit: moves.filter(([, move]) => move === undefined).map(([text]) => text),
      expected: expected.bad,
    },
  };
};

const split = <T>(texts: string[], read: (text: string, field: string) => T | undefined) => {
  const good: [string, T][] = [];
  const bad: string[] = [];
  for (let i = 0; i + 1 < texts.length; i += 2) {
    const [field, text] = [texts[i] as string, texts[i + 1] as string];
    const value = read(text, field);
    if (value === undefined) bad.push(field);
    else good.push([field, value]);
  }
  return { good, bad };
};
