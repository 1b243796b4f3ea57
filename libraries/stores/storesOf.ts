import type { Core, Feature } from "../../src/gateway/index.ts";
import type { Stores } from "./keyValueStore.ts";
import { memoryStores } from "./openStores.ts";

/**
 * Where features store what outlives the process, or what gateways share: the stores that were
 * opened, else some in memory.
 */
export const storesOf = ({ features }: Pick<Core, "features">): Stores =>
  (features as readonly (Feature & { stores?: Stores })[]).find(({ stores }) => stores)?.stores ?? memoryStores();
