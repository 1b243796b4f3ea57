import type { Core, Feature } from "../../src/gateway/index.ts";
import type { Stores } from "./keyValueStore.ts";
import { memoryStores } from "./openStores.ts";

/**
 * The stores for values that outlive the process, or that gateways share: those that were opened, else stores in
 * memory.
 */
export const storesOf = ({ features }: Pick<Core, "features">): Stores =>
  (features as readonly (Feature & { stores?: Stores })[]).find(({ stores }) => stores)?.stores ?? memoryStores();
