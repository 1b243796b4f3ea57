// What features, libraries and tools import of the gateway.

export type { WriteFate } from "./answer/answerFunctions.ts";
export type { CallerIdentity, Context, Handler, Layer } from "./answer/context.ts";
export { type Additions, nothing, type Started } from "./answer/additions.ts";
export type { Core, Notice, StoredAnswers } from "./answer/core.ts";
export type { OnWrite, Writes } from "./answer/writes.ts";
export { unauthenticated } from "./answer/legacyFetch.ts";
export { type Catalogue, type Pattern, patterns, type PreparedEndpoint } from "./answer/prepared.ts";
export { type Fetched, legacyName } from "./cache/cacheRequest.ts";
export { acceptedCodings, compress, copyOf, MIN_BODY } from "./cache/compression.ts";
export { bytesOf, type Coding, type Entry, entryOf, tagOf } from "./cache/entry.ts";
export { expiryOf, freshOnly, withDefaults } from "./cache/policy.ts";
export { contentHeaders, etagOf, matchesTag } from "./cache/reply.ts";
export { legacyDecision, type Served, uncached } from "./cache/served.ts";
export type { Invalidation, OpenSharedTier, SharedTier } from "./cache/sharedTier.ts";
export type { FoundEntry } from "./cache/tieredEntries.ts";
export { corsList } from "./http/cors.ts";
export { sendWhole } from "./http/httpServer.ts";
export { mediaTypeOf } from "./http/mediaType.ts";
export { type OwnError, sendOwnError } from "./http/ownErrors.ts";
export { type ErrorBody, problemOf, problemTypes } from "./http/problemDetails.ts";
export { isBelow, originForm } from "./http/requestTarget.ts";
export type { Step } from "./http/step.ts";
export { describeOldReads } from "./oldReads/describeOldReads.ts";
export type { TierOptions } from "./openCore.ts";
export { type Gateway, openGateway } from "./openGateway.ts";
export type { AddToOperators } from "./operators/operators.ts";
export type { Reader } from "./threads/reader.ts";
export { cannotListen } from "./server.ts";
export { contentCoding } from "./upstream/answerHeaders.ts";
export { ask, type UpstreamReply } from "./upstream/ask.ts";
export { contentOf } from "./upstream/contentOf.ts";
export { isItsFault, type RequestLine, UpstreamFailure } from "./upstream/failure.ts";
export { subnetOf } from "./upstream/forwarding.ts";
export {
  type Caller,
  type LegacyFailed,
  type LegacyReply,
  ownCaller,
  ownHeaders,
  withoutClient,
} from "./upstream/legacyClient.ts";
export { legacyJudge } from "./upstream/legacyJudge.ts";
export { openBackend, type Watch } from "./upstream/openBackend.ts";
export { openUpstream, type Upstream, type UpstreamSettings } from "./upstream/upstream.ts";
export { upstreamSettings } from "./upstream/upstreamSettings.ts";
