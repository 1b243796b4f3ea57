import type { Migration } from "./migration.ts";
import type { MoveNote, Stage } from "./stage.ts";

/** An endpoint may be moved by others this often before it counts as one that could not be moved. */
const MAX_ATTEMPTS = 3;

/**
 * Moves each endpoint that has a `destination`, which is `undefined` where it is there. `failed`: those whose move could not be stored,
 * which have not moved.
 */
export const moveAll = async (
  { view, move }: Pick<Migration, "view" | "move">,
  destination: (endpoint: string) => Stage | undefined,
  by: string,
  why: string,
  note: (endpoint: string) => MoveNote,
): Promise<{ moved: string[]; failed: { endpoint: string; why: string }[] }> => {
  const moved: string[] = [];
  const failed: { endpoint: string; why: string }[] = [];
  const moveOne = async (endpoint: string): Promise<void> => {
    let to = destination(endpoint);
    for (let i = 0; i < MAX_ATTEMPTS && to; i++, to = destination(endpoint))
      if (await move(endpoint, to, by, why, note(endpoint))) return void moved.push(endpoint);
    if (to) failed.push({ endpoint, why: "others move it at the same time" });
  };
  await Promise.all(
    Object.keys(view()).map((endpoint) =>
      moveOne(endpoint).catch((error: Error) => void failed.push({ endpoint, why: error.message })),
    ),
  );
  return { moved, failed };
};
