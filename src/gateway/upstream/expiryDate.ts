import { connect, type ConnectionOptions } from "node:tls";

/** Finds when the expired certificate of a server ended: `2026-11-27 06:52 UTC`; `undefined`: that is not seen. */
export const findExpiryDate = (server: ConnectionOptions, onFound: (expiredOn: string | undefined) => void): void => {
  let expiredOn: string | undefined;
  // Node shows no certificate that it refuses. Nothing is sent over this connection.
  const socket = connect({ ...server, rejectUnauthorized: false }, () => {
    const end = socket.getPeerX509Certificate()?.validToDate;
    // Else that of its authority has expired.
    if (end !== undefined && end < new Date()) expiredOn = end.toISOString().replace(/T(\d\d:\d\d).*/, " $1 UTC");
    socket.destroy();
  });
  for (const event of ["error", "timeout"]) socket.on(event, () => socket.destroy());
  socket.on("close", () => onFound(expiredOn));
};
