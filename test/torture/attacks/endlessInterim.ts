import { type Attack, atMost, holds } from "../lib/attack.ts";
import { openSocket } from "../lib/client.ts";
import { holdsWithin } from "../../support/waiting.ts";

const INTERIM = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(2000);
const BOUND = 100;

export const endlessInterim: Attack = {
  name: "endless-1xx",
  what: "An upstream that sends 1xx answers for ever, to a client that reads nothing and to one that reads.",
  async run({ startGateway, openRawUpstream, progress }) {
    const upstream = await openRawUpstream((socket) => {
      const send = () => {
        while (!socket.destroyed && socket.write(INTERIM));
        if (!socket.destroyed) socket.once("drain", send);
      };
      send();
    });
    const gateway = await startGateway({
      LEGACY_URL: upstream.url,
      HEADERS_TIMEOUT_MS: "2000",
      BODY_TIMEOUT_MS: "2000",
      SEND_TIMEOUT_MS: "3000",
    });
    const checks = [];
    for (const isPaused of [true, false]) {
      const start = gateway.resident();
      let peak = 0;
      const begun = upstream.received().length;
      const socket = openSocket(gateway.port, { isPaused });
      socket.write("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
      const hasBegun = await holdsWithin(() => upstream.received().length > begun, 3000);
      const hasEnded = await holdsWithin(() => {
        peak = Math.max(peak, gateway.resident());
        progress(`${gateway.resident().toFixed(0)} MiB`);
        return upstream.sockets() === 0;
      }, 8000);
      socket.destroy();
      const who = isPaused ? "a client that reads nothing" : "a client that reads";
      checks.push(
        atMost(`memory that it adds, with ${who}`, peak - start, BOUND, "MiB"),
        holds(
          `the upstream's connection, with ${who}`,
          hasEnded ? "closed" : "open after 8 s",
          "opened, and closed",
          hasBegun && hasEnded,
        ),
      );
      await holdsWithin(() => upstream.sockets() === 0, 3000);
    }
    checks.push(holds("the process", gateway.isAlive() ? "alive" : "ended", "alive", gateway.isAlive()));
    return checks;
  },
};
