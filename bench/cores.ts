export const SERVER_CORE = 0;
/** Of the load and of what stands behind the server. */
export const UPSTREAM_CORE = 1;
