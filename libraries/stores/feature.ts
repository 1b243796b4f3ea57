import type { Core } from "../../src/gateway/index.ts";
import type { Stores } from "./keyValueStore.ts";
import { openStores } from "./openStores.ts";
import { storeEvents } from "./events.ts";
import type { DataSettings } from "./settings.ts";

/** Opens the stores, before the features that use them. */
const open = async (
  { isCheck, observer, dependencies }: Pick<Core, "isCheck" | "observer" | "dependencies">,
  settings: DataSettings,
): Promise<Stores> => {
  const { REDIS_URL, DATA_DIR } = settings;
  const isDurable = (REDIS_URL ?? DATA_DIR) !== undefined && !isCheck;
  const report = isDurable
    ? dependencies.add("store", {
        trouble: REDIS_URL === undefined ? "The store (DATA_DIR) has been failing" : "Redis has been failing",
        effect: "stages, the audit log and the list of clients are not stored, and stages cannot be moved",
      })
    : undefined;
  return openStores({
    ...settings,
    isCheck,
    onEvent(event, about) {
      observer.event(event, about);
      if (event === "store_up") report?.(true);
      if (event === "store_lost") report?.(false, String(about["why"]));
    },
  });
};

export const feature = { open, events: storeEvents };
