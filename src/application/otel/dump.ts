import type { JsonObject } from '../../kernel/json/json.js'
import { isRoot, type Resource, type Scope, type Span } from '../../domain/otel/span.js'
import { instantOfNanoseconds } from '../../domain/otel/time.js'

const KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']
const STATUSES = ['UNSET', 'OK', 'ERROR']

/** A span as it was received, the `otel_dump` of its call: all that an exporter needs to send it again. */
export const dumpOf = (span: Span, scope: Scope, resource: Resource): JsonObject => ({
  name: span.name,
  context: { trace_id: span.traceId, span_id: span.spanId, trace_state: span.traceState },
  parent_id: isRoot(span) ? null : span.parentSpanId,
  kind: KINDS[span.kind] ?? String(span.kind),
  flags: span.flags,
  start_time: instantOfNanoseconds(span.start),
  end_time: span.end === 0n ? null : instantOfNanoseconds(span.end),
  start_time_unix_nano: String(span.start),
  end_time_unix_nano: String(span.end),
  status: { code: STATUSES[span.status.code] ?? String(span.status.code), message: span.status.message },
  attributes: span.attributes,
  ...counted('dropped_attributes_count', span.droppedAttributes),
  events: span.events.map(({ time, name, attributes, droppedAttributes }) => ({
    name,
    timestamp: instantOfNanoseconds(time),
    time_unix_nano: String(time),
    attributes,
    ...counted('dropped_attributes_count', droppedAttributes),
  })),
  ...counted('dropped_events_count', span.droppedEvents),
  links: span.links.map(({ traceId, spanId, traceState, flags, attributes, droppedAttributes }) => ({
    context: { trace_id: traceId, span_id: spanId, trace_state: traceState },
    flags,
    attributes,
    ...counted('dropped_attributes_count', droppedAttributes),
  })),
  ...counted('dropped_links_count', span.droppedLinks),
  scope: {
    name: scope.name,
    version: scope.version,
    attributes: scope.attributes,
    ...counted('dropped_attributes_count', scope.droppedAttributes),
    ...named('schema_url', scope.schemaUrl),
  },
  resource: {
    attributes: resource.attributes,
    ...counted('dropped_attributes_count', resource.droppedAttributes),
    ...named('schema_url', resource.schemaUrl),
  },
})

const counted = (name: string, count: number): JsonObject => (count === 0 ? {} : { [name]: count })
const named = (name: string, text: string): JsonObject => (text === '' ? {} : { [name]: text })
