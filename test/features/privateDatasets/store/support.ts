import { onTestFinished } from "vitest";
import { type Change, type Kept, notWalked, type PrivateRow } from "../../../../src/features/privateDatasets/rows.ts";
import { indexStoreOver, type OpenIndexStore } from "../../../../src/features/privateDatasets/store/indexStore.ts";
import { sqliteStore } from "../../../../src/store/sqliteStore.ts";
import { scope } from "./rows.ts";

/** A store, and what an index knows by it. `told`: what it was told of, by id, as `7 8 -9 walk` or `all: 7 8 walk`. */
export const openWith = async (open: OpenIndexStore) => {
  const rows = new Map<number, PrivateRow>();
  let walk = notWalked;
  const [told, events]: [string[], string[]] = [[], []];
  const apply = (change: Change) => {
    for (const one of change.rows) rows.set(one.id, one);
    for (const id of change.gone) rows.delete(id);
    walk = change.walk ?? walk;
  };
  const snapshot = (): Kept => ({ rows: [...rows.values()].toSorted((a, b) => a.id - b.id), walk });
  const store = await open({
    onChange(change, isWhole) {
      const ids = [...change.rows.map(({ id }) => id), ...change.gone.map((id) => -id)];
      const parts = [...ids.toSorted((one, other) => Math.abs(one) - Math.abs(other)), change.walk ? "walk" : ""];
      told.push(`${isWhole ? "all: " : ""}${parts.join(" ")}`.trim());
      if (isWhole) rows.clear();
      if (isWhole) walk = notWalked;
      apply(change);
    },
    onEvent: (event, about) => void events.push(`${event} ${JSON.stringify(about)}`),
  });
  onTestFinished(() => store.close());
  return {
    store,
    told,
    events,
    known: snapshot,
    /** `7:name 8:name @40`: the rows, and how far the walk is. */
    text: () =>
      [...snapshot().rows.map(({ id, shown }) => `${id}:${shown?.["name"] as string}`), `@${walk.checkedUpTo}`].join(
        " ",
      ),
    learn: (change: Partial<Change>) => {
      const whole = { rows: [], gone: [], ...change };
      apply(whole);
      store.save(whole);
    },
  };
};

export type Instance = Awaited<ReturnType<typeof openWith>>;

/** How a store in a directory is opened. */
export const inDirectory = (directory: string, delay = 2000): OpenIndexStore =>
  indexStoreOver(scope, (about) => sqliteStore({ ...about, directory, delay }));
