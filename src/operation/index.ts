// The exports of `operation`: settings, secrets, limits, the network, the log and the metrics.

export { allOf } from "./limits/allOf.ts";
export {
  type ByteBudget,
  countedBytes,
  type Holding,
  openByteBudget,
  openHolding,
  UNCOUNTED,
} from "./limits/byteBudget.ts";
export { monotonic } from "./limits/monotonic.ts";
export { once } from "./limits/once.ts";
export { withTimeout } from "./limits/withTimeout.ts";
export { plainAddress, trustedProxies } from "./network/addresses.ts";
export { connectionCause, describeReason, neverAnswered, type Reason } from "./network/connectionCause.ts";
export { listen, type Listening, urlOf } from "./network/listen.ts";
export { http } from "./network/nodeHttp.ts";
export { HIDDEN, scrubAgent, showSegments, withoutUrlSecrets } from "./secrets/scrub.ts";
export { threadEnvironment } from "./secrets/threadEnvironment.ts";
export { truncate } from "./secrets/truncate.ts";
export { certificates, unusedCertificates } from "./settings/certificates.ts";
export { described } from "./settings/describeIssue.ts";
export { editDistance } from "./settings/editDistance.ts";
export { fields, SAMPLE } from "./settings/fields.ts";
export { fileSettingOf } from "./settings/givenSetting.ts";
export { loadSettings } from "./settings/load.ts";
export {
  type KnownEndpoints,
  secretSettings,
  type Settings,
  settingsByGroup,
  type SettingsFragment,
  type SettingsOf,
  settingsSchemaOf,
  unknownEndpoints,
  type WhenOff,
} from "./settings/settings.ts";
export { suggestName } from "./settings/slips.ts";
export { temporary } from "./settings/temporary.ts";
export { buildId, buildInfo } from "./telemetry/buildId.ts";
export { type Dependencies, type DependencyState, openDependencies } from "./telemetry/dependencies.ts";
export { coreEvents, type EventDefinitions, type EventLevel } from "./telemetry/events.ts";
export {
  contexts,
  exchangeKey,
  exchangeOf,
  HttpExchange,
  propagatedHeaders,
  type RequestContext,
  type RequestReaders,
  shownTarget,
  traceContextOf,
} from "./telemetry/exchange.ts";
export { writeExposition } from "./telemetry/exposition.ts";
export { openLogDestination } from "./telemetry/logDestination.ts";
export {
  answerResultOf,
  type CacheStatus,
  type CallResult,
  type Meter,
  openMeter,
  requestKinds,
} from "./telemetry/meter.ts";
export { type Observer, openObserver } from "./telemetry/observer.ts";
export { openReadCounts, type ReadCounts } from "./telemetry/readCounts.ts";
export { openRecentTimes, RECENT_TIMES } from "./telemetry/recentTimes.ts";
export { callerOfRequest, hashOfKey, headerOf, idOfKey, RequestCaller } from "./telemetry/requestCaller.ts";
export { observeSteps, requestBegins, runStep, steps } from "./telemetry/steps.ts";
export {
  isTrouble,
  type NamedTraffic,
  openTraffic,
  type Outcomes,
  RECENT_MINUTES,
  sumTraffic,
  type Traffic,
} from "./telemetry/traffic.ts";
