import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

const cache = getCompileCacheDir();

/**
 * The environment of a thread. It is not that of the gateway, which may hold keys. It names the cache of compiled code,
 * which saves 200 ms and 17 MB. Node appends a folder to the path.
 */
export const threadEnvironment: Record<string, string> =
  cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) };
