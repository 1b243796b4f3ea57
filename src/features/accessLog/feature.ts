import type { Core, Feature } from "../../serve/feature.ts";
import { openLogDestination } from "../../telemetry/logDestination.ts";
import { trustedProxies } from "../../upstream/forwarding.ts";
import { accessLogEvents } from "./events.ts";
import { jsonLine } from "./jsonLine.ts";
import { openRecords } from "./record.ts";
import type { AccessLogSettings } from "./settings.ts";

/** Levels of lines, as pino numbers them. */
const [INFO, WARN, ERROR] = [30, 40, 50];

/** Milliseconds that a line may wait to be written with others: one write a line would cost more than the line. */
const LINE_DELAY = 50;

/** Writes a line for requests. `fd`: where they go (default: the standard output). */
const open = ({ services }: Core, settings: AccessLogSettings, fd = 1): Feature => {
  const { meter, observer, keys, hooks } = services;
  const { ACCESS_LOG: which, SLOW_REQUEST_MS: slow } = settings;
  const recordOf = openRecords({
    trusted: trustedProxies(settings.TRUSTED_PROXIES),
    ownerOf: (key) => keys.ownerOf(key),
    stageOf: hooks.stageOf,
  });
  const destination = openLogDestination(fd, (lines) => observer.event("access_log_lines_dropped", { lines }), {
    delayMs: LINE_DELAY,
  });
  meter.total(
    "access_log_lines_dropped_total",
    "Lines of the access log that were dropped because its reader was too slow.",
    () => destination.dropped(),
  );
  return {
    onExchange(exchange, response) {
      const ms = performance.now() - exchange.started;
      const isError = exchange.status >= 500 && !exchange.isRefused;
      const isSlow = (exchange.begunAfter ?? ms) >= slow;
      if (which !== "all" && !isError && !isSlow) return;
      const record = recordOf(exchange, ms, response);
      destination.write(jsonLine(record, isError ? ERROR : isSlow ? WARN : INFO));
    },
  };
};

/** The feature, as the gateway opens it. */
export const accessLogFeature = { open, events: accessLogEvents };
