"use strict";
// Ends the process where Node is too old, before anything is loaded that such a Node cannot read. npm's scripts preload
// this file (`node -r`), so it keeps to what every Node understands.
var needed = 26;
if (parseInt(process.versions.node, 10) < needed) {
  // oxlint-disable-next-line no-console -- it is the program's answer
  console.error(
    "catalog-gateway needs Node " +
      needed +
      " or later; this is " +
      process.version +
      ": install it from https://nodejs.org, or let `npm ci` bring it (on Linux with glibc and on macOS, without --omit=optional)",
  );
  process.exit(2);
}
