import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import type { WholeSpan } from '../../domain/otel/encode.js'
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

/** The span of a dump. */
export const spanOfDump = (dump: JsonObject): WholeSpan => {
  const context = objectIn(dump, 'context')
  const status = objectIn(dump, 'status')
  return {
    span: {
      ...contextOf(context),
      parentSpanId: textIn(dump, 'parent_id'),
      flags: countIn(dump, 'flags'),
      name: textIn(dump, 'name'),
      kind: numberOf(KINDS, dump['kind']),
      start: BigInt(textIn(dump, 'start_time_unix_nano')),
      end: BigInt(textIn(dump, 'end_time_unix_nano')),
      ...describedIn(dump),
      events: listIn(dump, 'events').map((event) => ({
        time: BigInt(textIn(event, 'time_unix_nano')),
        name: textIn(event, 'name'),
        ...describedIn(event),
      })),
      droppedEvents: countIn(dump, 'dropped_events_count'),
      links: listIn(dump, 'links').map((link) => ({
        ...contextOf(objectIn(link, 'context')),
        flags: countIn(link, 'flags'),
        ...describedIn(link),
      })),
      droppedLinks: countIn(dump, 'dropped_links_count'),
      status: { code: numberOf(STATUSES, status['code']), message: textIn(status, 'message') },
    },
    scope: {
      name: textIn(objectIn(dump, 'scope'), 'name'),
      version: textIn(objectIn(dump, 'scope'), 'version'),
      ...sourceIn(dump, 'scope'),
    },
    resource: sourceIn(dump, 'resource'),
  }
}

const objectIn = (holder: JsonObject, name: string): JsonObject => {
  const value = holder[name]
  return isJsonObject(value) ? value : {}
}

const listIn = (holder: JsonObject, name: string): readonly JsonObject[] => {
  const value = holder[name]
  return Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : []
}

const textIn = (holder: JsonObject, name: string): string => {
  const value = holder[name]
  return typeof value === 'string' ? value : ''
}

const countIn = (holder: JsonObject, name: string): number => Number(holder[name] ?? 0)

/** The place in a list of names, or a number that has no name. */
const numberOf = (names: readonly string[], value: Json | undefined): number =>
  names.includes(value as string) ? names.indexOf(value as string) : Number(value ?? 0)

const contextOf = (context: JsonObject) => ({
  traceId: textIn(context, 'trace_id'),
  spanId: textIn(context, 'span_id'),
  traceState: textIn(context, 'trace_state'),
})

const describedIn = (holder: JsonObject) => ({
  attributes: objectIn(holder, 'attributes'),
  droppedAttributes: countIn(holder, 'dropped_attributes_count'),
})

const sourceIn = (dump: JsonObject, name: string) => ({
  ...describedIn(objectIn(dump, name)),
  schemaUrl: textIn(objectIn(dump, name), 'schema_url'),
})
