/** The core's tests run a second time without features (`check:core`): those that need one are left out there. */
export const hasFeatures = process.env["LANE"] !== "core";
