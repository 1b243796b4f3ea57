/** A worker that only says that it listens. */
process.on("SIGTERM", () => process.exit(0));
process.on("disconnect", () => process.exit(0));
process.send(JSON.stringify({ method: "listening", id: 1, payload: 8000 }));
