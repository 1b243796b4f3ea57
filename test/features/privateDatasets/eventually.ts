export { until as eventually } from "../../support/waiting.ts";
