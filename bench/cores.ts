/** The core of the server. */
export const SERVER_CORE = 0;
/** The core of the load generator and of the upstream. */
export const UPSTREAM_CORE = 1;
