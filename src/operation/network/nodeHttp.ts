/**
 * `node:http`, without an `import`: that would read all of its exports, among them `WebSocket`, for which Node loads
 * its own copy of undici: 35 ms and 13 MB of the start, for nothing that is used here.
 */
export const http = process.getBuiltinModule("node:http");
