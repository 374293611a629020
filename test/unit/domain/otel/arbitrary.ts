import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { meaningOf, type SpanMeaning } from '../../../../src/domain/otel/meaning.js'
import type { Resource, Scope, Span, SpanEvent } from '../../../../src/domain/otel/span.js'

export const aSpan = (attributes: JsonObject, others: Partial<Span> = {}): Span => ({
  traceId: '1'.repeat(32),
  spanId: '2'.repeat(16),
  parentSpanId: '',
  traceState: '',
  flags: 0,
  name: 'step',
  kind: 1,
  start: 1_760_000_000_000_000_000n,
  end: 1_760_000_001_000_000_000n,
  attributes,
  droppedAttributes: 0,
  events: [],
  droppedEvents: 0,
  links: [],
  droppedLinks: 0,
  status: { code: 0, message: '' },
  ...others,
})

export const anEvent = (name: string, attributes: JsonObject, time = 0n): SpanEvent => ({
  name,
  attributes,
  time,
  droppedAttributes: 0,
})

export const aScope: Scope = { name: '', version: '', attributes: {}, droppedAttributes: 0, schemaUrl: '' }

export const aResource = (attributes: JsonObject = {}): Resource => ({
  attributes,
  droppedAttributes: 0,
  schemaUrl: '',
})

/** The meaning of a span with these attributes. */
export const meaning = (attributes: JsonObject, others: Partial<Span> = {}): SpanMeaning =>
  meaningOf(aSpan(attributes, others), aScope, aResource())

/** Attributes with indexes for a value, as `prefix.0.role`. */
export const flattened = (prefix: string, value: Json): JsonObject =>
  typeof value === 'object' && value !== null
    ? Object.assign(
        {},
        ...Object.entries(value).map(([key, member]) => flattened(`${prefix}.${key}`, member)),
      )
    : { [prefix]: value }
