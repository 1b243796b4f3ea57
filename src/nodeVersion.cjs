"use strict";
// Ends the process where Node is too old, before anything is loaded that such a Node cannot read. npm's scripts preload
// this file (`node -r`), so it keeps to what every Node understands.
/** The lowest version, as `engines` of the package.json says it: ">=26", ">=24.11.0". */
var needed = require("../package.json").engines.node.slice(2);
/** Whether a version is below another; parts that the other does not name are not looked at. */
function isBelow(version, other) {
  var parts = version.split(".");
  var others = other.split(".");
  for (var i = 0; i < others.length; i++)
    if (parts[i] !== others[i]) return parseInt(parts[i], 10) < parseInt(others[i], 10);
  return false;
}
if (isBelow(process.versions.node, needed)) {
  // oxlint-disable-next-line no-console -- it is the program's answer
  console.error(
    "catalog-gateway needs Node " +
      needed +
      " or later; this is " +
      process.version +
      ": install it from https://nodejs.org, or in a clone let `npm ci` bring it (on Linux with glibc and on macOS, without --omit=optional)",
  );
  process.exit(2);
}
