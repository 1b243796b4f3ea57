// The exports of the catalogue: the parts of an endpoint, and the reading of its answers.

export {
  type Answer,
  answerOf,
  collectErrors,
  type ForOne,
  inputErrors,
  judgedStatus,
  plainAnswer,
} from "./endpoint/answer.ts";
export { buildXml } from "./endpoint/buildXml.ts";
export { type Credential, isKey, keyAlone, readCredential } from "./endpoint/credential.ts";
export {
  type Definition,
  type Endpoint,
  endpoint,
  type ListedTexts,
  type NamedEndpoint,
  type Route,
  type RowById,
  type RowFilters,
  type RowTest,
} from "./endpoint/endpoint.ts";
export {
  explained,
  type Field,
  type Fields,
  flag,
  identifier,
  identifierList,
  identifierOr,
  identifiers,
  type InputOf,
  integerFrom,
  matching,
  oneOf,
  optionalField,
  range,
  textUpTo,
  withDefault,
} from "./endpoint/field.ts";
export { added, amended, changed, collection, entity, type Touched } from "./endpoint/groups.ts";
export {
  type Given,
  givenInBody,
  givenInPairs,
  givenInPath,
  type InputReading,
  readBodyInput,
  readInput,
  unescaped,
} from "./endpoint/input.ts";
export type { LegacyPaths, LegacyWrite, LegacyWriteKnowledge, OpaqueRead } from "./endpoint/legacyInterface.ts";
export type { LegacyForm, LegacyFormat } from "./endpoint/legacyForm.ts";
export { get, getSegments, type LegacyRequest, post, type Unsent, upload } from "./endpoint/legacyRequest.ts";
export { type DeclaredLifetimes, type Duration, isDuration, milliseconds } from "./endpoint/lifetimes.ts";
export type { LegacyError, Outcome, OutcomeKind } from "./endpoint/outcome.ts";
export { elsewhere, extra, type InputError } from "./endpoint/problem.ts";
export type { Result } from "./endpoint/result.ts";
export { isReadMethod, pathOf, queryOf } from "./endpoint/target.ts";
export { fitOf, transform } from "./endpoint/transform.ts";
export { fieldReader, keysInForm, legacyKeyOf } from "./legacy/formFields.ts";
export { fateByCode, gatewayError, gatewayErrorFormat, writeLegacyError } from "./legacy/gatewayErrors.ts";
export {
  errorCodeIn,
  isDatabaseErrorPage,
  isFrontsError,
  isPage,
  type Judgement,
  judgementOf,
  needsDecoding,
  readEdges,
} from "./legacy/judgement.ts";
export { isLegacyRead, type LegacyKind, legacyKindOf, isOneOf, isSafeMethod } from "./legacy/legacyReads.ts";
export { type LegacyTarget, legacyTargets, type ReadLegacyTarget, withoutFormat } from "./legacy/legacyTarget.ts";
export { legacyPattern, type LegacyPattern, readLegacyPath, segmentsOf, textsIn } from "./legacy/readLegacyPath.ts";
export {
  type CodedError,
  type ErrorTable,
  type LegacyReading,
  outcomeAt,
  outcomeOf,
  ownStatusOf,
  readLegacy,
} from "./legacy/reading.ts";
export { markupPaths, xmlReader, xmlReaderFor } from "./legacy/xml.ts";
export { type Facets, facetsOf, memberOf } from "./reading/facets.ts";
export { fitOfOurs } from "./reading/fits.ts";
export {
  type Jobs,
  type Read,
  type Readable,
  readableOf,
  type ReadTask,
  runJob,
  type ThreadData,
  type ThreadMessage,
  type ThreadResult,
  type Written,
} from "./reading/readAnswer.ts";
export { commaSeparated, urlList } from "./rules/commaSeparated.ts";
export {
  anyOrder,
  dropped,
  entriesOf,
  havingValue,
  ifGiven,
  list,
  member,
  nested,
  nullable,
  numberOf,
  object,
  onlyWhen,
  optional,
  orEmpty,
  own,
  renamed,
  sortedBy,
  unwrapped,
} from "./rules/compose.ts";
export { collectChanges, type RuleChange } from "./rules/notes.ts";
export { parseJson } from "./rules/parseJson.ts";
export { childPointer, pointerSteps } from "./rules/pointer.ts";
export { around, isObject, isUnset, type Json, type JsonObject, type Rule } from "./rules/rule.ts";
export {
  boolean,
  integer,
  isoTimestamp,
  javaNumber,
  jsonList,
  lowercase,
  markup,
  number,
  numberList,
  text,
  timestamp,
  verbatim,
} from "./rules/values.ts";
export { onceForEach } from "./rules/onceForEach.ts";
