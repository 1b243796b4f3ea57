import type { Migration } from "./migration.ts";

/** An endpoint may be moved by others this often before it counts as one that could not be moved. */
const MAX_ATTEMPTS = 3;

/** Moves every endpoint to legacy, in an emergency. `failed`: those whose move could not be stored, which have not moved. */
export const moveAllToLegacy = async (
  { view, stageOf, move }: Pick<Migration, "view" | "stageOf" | "move">,
  by: string,
  why: string,
): Promise<{ moved: string[]; failed: { endpoint: string; why: string }[] }> => {
  const moved: string[] = [];
  const failed: { endpoint: string; why: string }[] = [];
  const moveOne = async (endpoint: string): Promise<void> => {
    for (let i = 0; i < MAX_ATTEMPTS && stageOf(endpoint).stage !== "legacy"; i++)
      if (await move(endpoint, { stage: "legacy", share: 100 }, by, why)) return void moved.push(endpoint);
    if (stageOf(endpoint).stage !== "legacy") failed.push({ endpoint, why: "others move it at the same time" });
  };
  const names = Object.keys(view()).filter((endpoint) => stageOf(endpoint).stage !== "legacy");
  await Promise.all(
    names.map((endpoint) =>
      moveOne(endpoint).catch((error: Error) => void failed.push({ endpoint, why: error.message })),
    ),
  );
  return { moved, failed };
};
