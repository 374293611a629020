import { exactDigitsIn } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { deeperThan } from '../../kernel/json/measure.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import {
  SpanRefusal,
  type ReceivedSpan,
  type Resource,
  type Scope,
  type Span,
  type SpanEvent,
  type SpanLink,
} from '../../domain/otel/span.js'
import {
  countParts,
  countTo,
  DEEPEST,
  LOG_RECORD,
  MOST_SPANS,
  NotARequest,
  setDouble,
  setMember,
  setWhole,
  TOO_DEEP,
  UnreadableSpan,
  type Count,
} from './values.js'

/**
 * Reads an `ExportTraceServiceRequest` in OTLP's own form of JSON: ids are hex, integers texts or numbers, enumerations
 * numbers, and null is absent. Unknown members are ignored. Attributes may be an object as well.
 *
 * @throws NotARequest, Failure for too many spans
 */
export const spansInJson = async (request: Json): Promise<readonly ReceivedSpan[]> => {
  if (!isJsonObject(request)) throw new NotARequest('the body should be a JSON object with resourceSpans')
  if (request['resourceSpans'] === undefined && LOGS.some((name) => request[name] !== undefined))
    throw new NotARequest(
      'the body has no resourceSpans: logs and metrics have the paths /v1/logs and /v1/metrics',
    )
  const pause = yielding()
  const count = countTo(MOST_SPANS, 'spans')
  const received: ReceivedSpan[] = []
  for (const [r, ofResource] of membersIn(request, 'resourceSpans').entries()) {
    const resource = resourceOf(ofResource)
    await pause()
    for (const [s, ofScope] of membersIn(ofResource, 'scopeSpans').entries()) {
      const scope = scopeOf(ofScope)
      await pause()
      for (const [n, span] of membersIn(ofScope, 'spans').entries()) {
        count()
        const place = `resourceSpans[${r}].scopeSpans[${s}].spans[${n}]`
        received.push({ place, resource, scope, span: readSpan(span) })
        await pause()
      }
    }
  }
  return received
}

const LOGS = ['resourceLogs', 'resourceMetrics', 'scopeLogs', 'logRecords']

const listIn = (holder: JsonObject, name: string): readonly Json[] => {
  const value = holder[name]
  return Array.isArray(value) ? (value as readonly Json[]) : []
}

/** The elements of a list as objects; any other element becomes an empty object. */
const membersIn = (holder: JsonObject, name: string): readonly JsonObject[] =>
  listIn(holder, name).map((element) => (isJsonObject(element) ? element : {}))

const partsIn = (span: JsonObject, name: string, count: Count): readonly JsonObject[] => {
  const parts = membersIn(span, name)
  parts.forEach(count)
  return parts
}

const memberOf = (holder: JsonObject, name: string): JsonObject => {
  const value = holder[name]
  return isJsonObject(value) ? value : {}
}

const textIn = (holder: JsonObject, name: string): string => {
  const value = holder[name]
  return typeof value === 'string' ? value : ''
}

const WHOLE = /^-?\d{1,20}$/

/** An integer of up to 64 bits, as text or as a number with all its digits. */
const wholeIn = (holder: JsonObject, name: string): bigint | undefined => {
  const value = holder[name]
  if (typeof value === 'string') return WHOLE.test(value) ? BigInt(value) : undefined
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined
  return BigInt(exactDigitsIn(holder, name) ?? Math.trunc(value))
}

const timeIn = (holder: JsonObject, name: string): bigint => {
  const time = wholeIn(holder, name) ?? 0n
  return time < 0n ? 0n : time
}

const countIn = (holder: JsonObject, name: string): number => {
  const count = Number(wholeIn(holder, name) ?? 0n)
  return count >= 0 && count <= 0xffffffff ? count : 0
}

const resourceOf = (ofResource: JsonObject): Resource => {
  const described = memberOf(ofResource, 'resource')
  return {
    attributes: attributesOfSource(described),
    droppedAttributes: countIn(described, 'droppedAttributesCount'),
    schemaUrl: textIn(ofResource, 'schemaUrl'),
  }
}

const scopeOf = (ofScope: JsonObject): Scope => {
  const described = memberOf(ofScope, 'scope')
  return {
    name: textIn(described, 'name'),
    version: textIn(described, 'version'),
    attributes: attributesOfSource(described),
    droppedAttributes: countIn(described, 'droppedAttributesCount'),
    schemaUrl: textIn(ofScope, 'schemaUrl'),
  }
}

const readSpan = (span: JsonObject): Span | SpanRefusal =>
  span['timeUnixNano'] !== undefined && span['startTimeUnixNano'] === undefined
    ? new SpanRefusal(LOG_RECORD)
    : deeperThan(span, DEEPEST)
      ? new SpanRefusal(TOO_DEEP)
      : orRefusal(() => spanOf(span, countParts()))

const orRefusal = (read: () => Span): Span | SpanRefusal => {
  try {
    return read()
  } catch (error) {
    if (error instanceof UnreadableSpan) return new SpanRefusal(error.message)
    throw error
  }
}

const spanOf = (span: JsonObject, count: Count): Span => {
  const status = memberOf(span, 'status')
  return {
    traceId: textIn(span, 'traceId').toLowerCase(),
    spanId: textIn(span, 'spanId').toLowerCase(),
    parentSpanId: textIn(span, 'parentSpanId').toLowerCase(),
    traceState: textIn(span, 'traceState'),
    flags: countIn(span, 'flags'),
    name: textIn(span, 'name'),
    kind: countIn(span, 'kind'),
    start: timeIn(span, 'startTimeUnixNano'),
    end: timeIn(span, 'endTimeUnixNano'),
    attributes: attributesOf(span, count),
    droppedAttributes: countIn(span, 'droppedAttributesCount'),
    events: partsIn(span, 'events', count).map((event) => eventOf(event, count)),
    droppedEvents: countIn(span, 'droppedEventsCount'),
    links: partsIn(span, 'links', count).map((link) => linkOf(link, count)),
    droppedLinks: countIn(span, 'droppedLinksCount'),
    status: { code: countIn(status, 'code'), message: textIn(status, 'message') },
  }
}

const eventOf = (event: JsonObject, count: Count): SpanEvent => ({
  time: timeIn(event, 'timeUnixNano'),
  name: textIn(event, 'name'),
  attributes: attributesOf(event, count),
  droppedAttributes: countIn(event, 'droppedAttributesCount'),
})

const linkOf = (link: JsonObject, count: Count): SpanLink => ({
  traceId: textIn(link, 'traceId').toLowerCase(),
  spanId: textIn(link, 'spanId').toLowerCase(),
  traceState: textIn(link, 'traceState'),
  flags: countIn(link, 'flags'),
  attributes: attributesOf(link, count),
  droppedAttributes: countIn(link, 'droppedAttributesCount'),
})

/** Too many of a resource or scope, or one nested too deep, would refuse every span, so they are left out. */
const attributesOfSource = (holder: JsonObject): JsonObject => {
  try {
    return deeperThan(holder['attributes'], DEEPEST) ? {} : attributesOf(holder, countParts())
  } catch (error) {
    if (error instanceof UnreadableSpan) return {}
    throw error
  }
}

const attributesOf = (holder: JsonObject, count: Count): JsonObject => {
  const given = holder['attributes']
  if (isJsonObject(given)) {
    Object.keys(given).forEach(count)
    return given
  }
  const attributes: JsonObject = {}
  for (const element of membersIn(holder, 'attributes')) readAttribute(element, attributes, count)
  return attributes
}

const readAttribute = (element: JsonObject, into: JsonObject, count: Count): void => {
  count()
  const key = textIn(element, 'key')
  setMember(into, key, null)
  readValue(memberOf(element, 'value'), into, key, count)
}

const readValue = (value: JsonObject, into: object, key: string | number, count: Count): void => {
  const { stringValue, boolValue, doubleValue, bytesValue, arrayValue, kvlistValue } = value
  if (typeof stringValue === 'string') setMember(into, key, stringValue)
  else if (typeof boolValue === 'boolean') setMember(into, key, boolValue)
  else if (value['intValue'] !== undefined && value['intValue'] !== null) readWhole(value, into, key)
  else if (typeof doubleValue === 'number') setDouble(into, key, doubleValue)
  else if (typeof doubleValue === 'string') setDouble(into, key, Number(doubleValue))
  else if (typeof bytesValue === 'string') setMember(into, key, bytesValue)
  else if (isJsonObject(arrayValue)) {
    const list: Json[] = []
    for (const element of membersIn(arrayValue, 'values'))
      readValue(element, list, list.push(null) - 1, count)
    setMember(into, key, list)
  } else if (isJsonObject(kvlistValue)) {
    const members: JsonObject = {}
    for (const element of membersIn(kvlistValue, 'values')) readAttribute(element, members, count)
    setMember(into, key, members)
  }
}

const readWhole = (value: JsonObject, into: object, key: string | number): void => {
  const whole = wholeIn(value, 'intValue')
  if (whole === undefined) setMember(into, key, value['intValue'] ?? null)
  else setWhole(into, key, whole)
}
