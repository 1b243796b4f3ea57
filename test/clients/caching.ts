import { endpoints } from "../../transforms/index.ts";

/** By default errors are kept for a minute at most, which is shorter than an outage. */
const lifetimes = Object.fromEntries(
  Object.entries(endpoints).flatMap(([name, { cache }]) =>
    cache ? [[name, { notFoundTtl: "7d", preconditionTtl: "7d" }]] : [],
  ),
);

/** The settings of a gateway that caches all that old clients read. */
export const caching = { CACHE_LEGACY: "all", CACHE_LIFETIMES: JSON.stringify(lifetimes) };
