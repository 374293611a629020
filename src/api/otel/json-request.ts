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
import { DEEPEST, LOG_RECORD, NotARequest, setDouble, setMember, setWhole, TOO_DEEP } from './values.js'

/**
 * Reads an `ExportTraceServiceRequest` in OTLP's own form of JSON: ids are hex, integers texts or numbers, enumerations
 * numbers, and null is absent. Unknown members are ignored. Attributes may be an object as well.
 *
 * @throws NotARequest
 */
export const spansInJson = async (request: Json): Promise<readonly ReceivedSpan[]> => {
  if (!isJsonObject(request)) throw new NotARequest('the body should be a JSON object with resourceSpans')
  if (request['resourceSpans'] === undefined && LOGS.some((name) => request[name] !== undefined))
    throw new NotARequest(
      'the body has no resourceSpans: logs and metrics have the paths /v1/logs and /v1/metrics',
    )
  const pause = yielding()
  const received: ReceivedSpan[] = []
  for (const [r, ofResource] of membersIn(request, 'resourceSpans').entries()) {
    const resource = resourceOf(ofResource)
    for (const [s, ofScope] of membersIn(ofResource, 'scopeSpans').entries()) {
      const scope = scopeOf(ofScope)
      for (const [n, span] of membersIn(ofScope, 'spans').entries()) {
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

/** The elements of a list, each as an object: what is none has no members. */
const membersIn = (holder: JsonObject, name: string): readonly JsonObject[] =>
  listIn(holder, name).map((element) => (isJsonObject(element) ? element : {}))

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
    attributes: attributesOf(described, DEEPEST),
    droppedAttributes: countIn(described, 'droppedAttributesCount'),
    schemaUrl: textIn(ofResource, 'schemaUrl'),
  }
}

const scopeOf = (ofScope: JsonObject): Scope => {
  const described = memberOf(ofScope, 'scope')
  return {
    name: textIn(described, 'name'),
    version: textIn(described, 'version'),
    attributes: attributesOf(described, DEEPEST),
    droppedAttributes: countIn(described, 'droppedAttributesCount'),
    schemaUrl: textIn(ofScope, 'schemaUrl'),
  }
}

const readSpan = (span: JsonObject): Span | SpanRefusal =>
  span['timeUnixNano'] !== undefined && span['startTimeUnixNano'] === undefined
    ? new SpanRefusal(LOG_RECORD)
    : deeperThan(span, DEEPEST)
      ? new SpanRefusal(TOO_DEEP)
      : spanOf(span)

const spanOf = (span: JsonObject): Span => {
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
    attributes: attributesOf(span),
    droppedAttributes: countIn(span, 'droppedAttributesCount'),
    events: membersIn(span, 'events').map(eventOf),
    droppedEvents: countIn(span, 'droppedEventsCount'),
    links: membersIn(span, 'links').map(linkOf),
    droppedLinks: countIn(span, 'droppedLinksCount'),
    status: { code: countIn(status, 'code'), message: textIn(status, 'message') },
  }
}

const eventOf = (event: JsonObject): SpanEvent => ({
  time: timeIn(event, 'timeUnixNano'),
  name: textIn(event, 'name'),
  attributes: attributesOf(event),
  droppedAttributes: countIn(event, 'droppedAttributesCount'),
})

const linkOf = (link: JsonObject): SpanLink => ({
  traceId: textIn(link, 'traceId').toLowerCase(),
  spanId: textIn(link, 'spanId').toLowerCase(),
  traceState: textIn(link, 'traceState'),
  flags: countIn(link, 'flags'),
  attributes: attributesOf(link),
  droppedAttributes: countIn(link, 'droppedAttributesCount'),
})

/** Those of a resource that are nested too deep would make every span too deep, so they are left out. */
const attributesOf = (holder: JsonObject, deepest = Infinity): JsonObject => {
  const given = holder['attributes']
  if (deeperThan(given, deepest)) return {}
  if (isJsonObject(given)) return given
  const attributes: JsonObject = {}
  for (const element of membersIn(holder, 'attributes')) readAttribute(element, attributes)
  return attributes
}

const readAttribute = (element: JsonObject, into: JsonObject): void => {
  const key = textIn(element, 'key')
  setMember(into, key, null)
  readValue(memberOf(element, 'value'), into, key)
}

const readValue = (value: JsonObject, into: object, key: string | number): void => {
  const { stringValue, boolValue, doubleValue, bytesValue, arrayValue, kvlistValue } = value
  if (typeof stringValue === 'string') setMember(into, key, stringValue)
  else if (typeof boolValue === 'boolean') setMember(into, key, boolValue)
  else if (value['intValue'] !== undefined && value['intValue'] !== null) readWhole(value, into, key)
  else if (typeof doubleValue === 'number') setDouble(into, key, doubleValue)
  else if (typeof doubleValue === 'string') setDouble(into, key, Number(doubleValue))
  else if (typeof bytesValue === 'string') setMember(into, key, bytesValue)
  else if (isJsonObject(arrayValue)) {
    const list: Json[] = []
    for (const element of membersIn(arrayValue, 'values')) readValue(element, list, list.push(null) - 1)
    setMember(into, key, list)
  } else if (isJsonObject(kvlistValue)) {
    const members: JsonObject = {}
    for (const element of membersIn(kvlistValue, 'values')) readAttribute(element, members)
    setMember(into, key, members)
  }
}

const readWhole = (value: JsonObject, into: object, key: string | number): void => {
  const whole = wholeIn(value, 'intValue')
  if (whole === undefined) setMember(into, key, value['intValue'] ?? null)
  else setWhole(into, key, whole)
}
