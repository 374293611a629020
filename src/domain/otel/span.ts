import type { JsonObject } from '../../kernel/json/json.js'

/**
 * A span of OpenTelemetry, read from protobuf or JSON. Ids are lower-case hex and '' where absent; times are nanoseconds
 * since 1970 and 0 where absent. Attributes are flat, by their dotted keys: a key may begin with another whole key. Bytes
 * are base64, NaN and infinite numbers texts, and a value that is absent null.
 */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly traceState: string
  readonly flags: number
  readonly name: string
  /** 0 to 5: unspecified, internal, server, client, producer, consumer. */
  readonly kind: number
  readonly start: bigint
  /** 0 while the span is running. */
  readonly end: bigint
  readonly attributes: JsonObject
  readonly droppedAttributes: number
  readonly events: readonly SpanEvent[]
  readonly droppedEvents: number
  readonly links: readonly SpanLink[]
  readonly droppedLinks: number
  /** The code is 0 for unset, 1 for ok, 2 for an error. */
  readonly status: { readonly code: number; readonly message: string }
}

export interface SpanEvent {
  readonly time: bigint
  readonly name: string
  readonly attributes: JsonObject
  readonly droppedAttributes: number
}

export interface SpanLink {
  readonly traceId: string
  readonly spanId: string
  readonly traceState: string
  readonly flags: number
  readonly attributes: JsonObject
  readonly droppedAttributes: number
}

/** The process that a span comes from. */
export interface Resource {
  readonly attributes: JsonObject
  readonly droppedAttributes: number
  readonly schemaUrl: string
}

/** The instrumentation that made a span. */
export interface Scope {
  readonly name: string
  readonly version: string
  readonly attributes: JsonObject
  readonly droppedAttributes: number
  readonly schemaUrl: string
}

/** A span of a request with its context, or why it cannot be read. */
export interface ReceivedSpan {
  /** Of the request: `resourceSpans[0].scopeSpans[0].spans[2]`. */
  readonly place: string
  readonly resource: Resource
  readonly scope: Scope
  readonly span: Span | SpanRefusal
}

export class SpanRefusal {
  constructor(readonly reason: string) {}
}

const TRACE_ID = /^[0-9a-f]{32}$/
const SPAN_ID = /^[0-9a-f]{16}$/
const ZEROS = /^0*$/

/** Why a span cannot be recorded; undefined if it can. */
export const refusalOf = ({ traceId, spanId, parentSpanId }: Span): string | undefined => {
  if (!TRACE_ID.test(traceId) || ZEROS.test(traceId)) return badId('trace id', 16, traceId)
  if (!SPAN_ID.test(spanId) || ZEROS.test(spanId)) return badId('span id', 8, spanId)
  if (parentSpanId !== '' && !SPAN_ID.test(parentSpanId)) return badId('parent span id', 8, parentSpanId)
  return undefined
}

const badId = (name: string, bytes: number, id: string): string =>
  `the ${name} should have ${bytes} bytes that are not all 0, in JSON as ${2 * bytes} hex digits; it is ` +
  (id === '' ? 'absent' : `'${id.slice(0, 40)}'`)

/** Whether a span is the first of its trace. */
export const isRoot = ({ parentSpanId }: Pick<Span, 'parentSpanId'>): boolean => ZEROS.test(parentSpanId)
