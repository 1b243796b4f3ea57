export { type ClientOf, openClientOf } from "./client.ts";
export { type AnyFailure, CatalogError, type InputFailure } from "./failure.ts";
export type { CallOptions, ClientSettings } from "./send.ts";
