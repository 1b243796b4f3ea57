import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Memory of this process that is in use, in MiB. */
export const usedMemory = (): number => {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 ** 2;
};
