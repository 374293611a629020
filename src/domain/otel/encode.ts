import { digitsIn, rememberDigits } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Resource, Scope, Span, SpanEvent, SpanLink } from './span.js'

/** A span with its context. */
export interface WholeSpan {
  readonly span: Span
  readonly scope: Scope
  readonly resource: Resource
}

/** The JSON texts of a span and of the members that it shares with others of its request. */
export interface EncodedSpan {
  readonly resource: string
  readonly scope: string
  readonly span: string
}

/** In OTLP's own form of JSON, which `api/otel/json-request.ts` reads. */
export const encodeSpan = ({ span, scope, resource }: WholeSpan): EncodedSpan => ({
  resource: members({
    resource: described(resource),
    ...(resource.schemaUrl !== '' && { schemaUrl: resource.schemaUrl }),
  }),
  scope: members({
    scope: { name: scope.name, version: scope.version, ...described(scope) },
    ...(scope.schemaUrl !== '' && { schemaUrl: scope.schemaUrl }),
  }),
  span: jsonText(spanJson(span)),
})

/** An `ExportTraceServiceRequest`. Spans in a row with the same resource and scope share them. */
export const requestText = (spans: readonly EncodedSpan[]): string => {
  const ofResources = inRows(spans, ({ resource }) => resource).map(([resource, ofResource]) => {
    const ofScopes = inRows(ofResource, ({ scope }) => scope).map(
      ([scope, ofScope]) => `{${scope},"spans":[${ofScope.map(({ span }) => span).join(',')}]}`,
    )
    return `{${resource},"scopeSpans":[${ofScopes.join(',')}]}`
  })
  return `{"resourceSpans":[${ofResources.join(',')}]}`
}

const inRows = <A>(items: readonly A[], keyOf: (item: A) => string): readonly (readonly [string, A[]])[] => {
  const rows: (readonly [string, A[]])[] = []
  for (const item of items) {
    const [key, last] = [keyOf(item), rows.at(-1)]
    if (last?.[0] === key) last[1].push(item)
    else rows.push([key, [item]])
  }
  return rows
}

/** An object's JSON without its braces. */
const members = (object: JsonObject): string => jsonText(object).slice(1, -1)

type Described = Pick<Resource, 'attributes' | 'droppedAttributes'>

const described = ({ attributes, droppedAttributes }: Described): JsonObject => ({
  attributes: attributeList(attributes),
  ...counted('droppedAttributesCount', droppedAttributes),
})

const counted = (name: string, count: number): JsonObject => (count === 0 ? {} : { [name]: count })

const spanJson = (span: Span): JsonObject => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId !== '' && { parentSpanId: span.parentSpanId }),
  ...(span.traceState !== '' && { traceState: span.traceState }),
  ...counted('flags', span.flags),
  name: span.name,
  kind: span.kind,
  startTimeUnixNano: String(span.start),
  endTimeUnixNano: String(span.end),
  ...described(span),
  events: span.events.map(eventJson),
  ...counted('droppedEventsCount', span.droppedEvents),
  links: span.links.map(linkJson),
  ...counted('droppedLinksCount', span.droppedLinks),
  status: { ...counted('code', span.status.code), message: span.status.message },
})

const eventJson = (event: SpanEvent): JsonObject => ({
  timeUnixNano: String(event.time),
  name: event.name,
  ...described(event),
})

const linkJson = (link: SpanLink): JsonObject => ({
  traceId: link.traceId,
  spanId: link.spanId,
  ...(link.traceState !== '' && { traceState: link.traceState }),
  ...counted('flags', link.flags),
  ...described(link),
})

const attributeList = (attributes: JsonObject): readonly JsonObject[] =>
  Object.keys(attributes).map((key) => ({ key, value: anyValue(attributes, key) }))

const anyValue = (holder: object, key: string | number): JsonObject => {
  const value = (holder as Readonly<Record<string | number, Json>>)[key]!
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') return numberValue(value, digitsIn(holder, key))
  if (Array.isArray(value)) return { arrayValue: { values: value.map((_, at) => anyValue(value, at)) } }
  return isJsonObject(value) ? { kvlistValue: { values: attributeList(value) } } : {}
}

const WHOLE = /^-?\d+$/

const numberValue = (value: number, digits: string | undefined): JsonObject => {
  if (digits === undefined)
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (WHOLE.test(digits)) return { intValue: digits }
  const double = { doubleValue: value }
  rememberDigits(double, 'doubleValue', digits)
  return double
}
