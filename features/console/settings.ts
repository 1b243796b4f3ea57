export { settings } from "../../src/gateway/operators/settings.ts";
