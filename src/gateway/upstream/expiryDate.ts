import { connect, type ConnectionOptions } from "node:tls";

/** Finds the time at which a server's certificate expired: `2026-11-27 06:52 UTC`; `undefined` if it is not found. */
export const findExpiryDate = (server: ConnectionOptions, onFound: (expiredOn: string | undefined) => void): void => {
  let expiredOn: string | undefined;
  // Node does not show a certificate that it refuses. No data is sent over this connection.
  const socket = connect({ ...server, rejectUnauthorized: false }, () => {
    const end = socket.getPeerX509Certificate()?.validToDate;
    // If this certificate is still valid, the certificate of its authority has expired.
    if (end !== undefined && end < new Date()) expiredOn = end.toISOString().replace(/T(\d\d:\d\d).*/, " $1 UTC");
    socket.destroy();
  });
  for (const event of ["error", "timeout"]) socket.on(event, () => socket.destroy());
  socket.on("close", () => onFound(expiredOn));
};
