import { Failure } from '../../application/failure.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { MOST_VALUES } from '../../kernel/json/parse-in-steps.js'
import { I32, I64, LEN, VARINT } from '../../kernel/protobuf-message.js'
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
import { Message } from './protobuf-message.js'
import {
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
 * Reads an `ExportTraceServiceRequest` (opentelemetry-proto 1.11). Each span is read by itself, so that one that cannot be
 * read refuses no other. Invalid UTF-8 becomes U+FFFD. Unknown fields are skipped.
 *
 * @throws NotARequest, Failure for too many spans or values
 */
export const spansInProtobuf = async (bytes: Buffer): Promise<readonly ReceivedSpan[]> => {
  const received: ReceivedSpan[] = []
  try {
    await readInto(received, bytes)
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new NotARequest('the body is not an ExportTraceServiceRequest in protobuf, or it is truncated')
  }
  return received
}

const readInto = async (received: ReceivedSpan[], bytes: Buffer): Promise<void> => {
  const pause = yielding()
  const values = countTo(MOST_VALUES, 'values')
  const scopes = countTo(MOST_SPANS, 'scopes')
  const spans = countTo(MOST_SPANS, 'spans')
  for (const [r, ofResource] of messagesIn(bytes, 1, countTo(MOST_SPANS, 'resources')).entries()) {
    const resource = resourceOf(ofResource, values)
    for (const [s, ofScope] of messagesIn(ofResource, 2, scopes).entries()) {
      const scope = scopeOf(ofScope, values)
      for (const [n, span] of messagesIn(ofScope, 2, spans).entries()) {
        const place = `resourceSpans[${r}].scopeSpans[${s}].spans[${n}]`
        received.push({ place, resource, scope, span: readSpan(span, values) })
        await pause()
      }
    }
  }
}

/** The elements of a repeated field, unread. */
const messagesIn = (bytes: Buffer, field: number, count: Count): readonly Buffer[] => {
  const found: Buffer[] = []
  const message = new Message(bytes, count)
  message.read((key) => {
    if (key !== LEN(field)) return false
    count()
    found.push(message.part())
    return true
  })
  return found
}

const resourceOf = (ofResource: Buffer, values: Count): Resource => {
  const { described, schemaUrl } = describedBy(ofResource, values)
  const attributes: JsonObject = {}
  let droppedAttributes = 0
  lenient(described, values, (message, key) => {
    if (key === LEN(1)) readAttribute(message, attributes, 0)
    else if (key === VARINT(2)) droppedAttributes = message.uint32()
    else return false
    return true
  })
  return { attributes, droppedAttributes, schemaUrl }
}

const scopeOf = (ofScope: Buffer, values: Count): Scope => {
  const { described, schemaUrl } = describedBy(ofScope, values)
  const attributes: JsonObject = {}
  let [name, version, droppedAttributes] = ['', '', 0]
  lenient(described, values, (message, key) => {
    if (key === LEN(1)) name = message.text()
    else if (key === LEN(2)) version = message.text()
    else if (key === LEN(3)) readAttribute(message, attributes, 0)
    else if (key === VARINT(4)) droppedAttributes = message.uint32()
    else return false
    return true
  })
  return { name, version, attributes, droppedAttributes, schemaUrl }
}

/** The resource or the scope of some spans, unread, and the URL of its schema. */
const describedBy = (
  bytes: Buffer,
  values: Count,
): { readonly described: Buffer; readonly schemaUrl: string } => {
  let described: Buffer = Buffer.alloc(0)
  let schemaUrl = ''
  const message = new Message(bytes, values)
  message.read((key) => {
    if (key === LEN(1)) described = message.part()
    else if (key === LEN(3)) schemaUrl = message.text()
    else return false
    return true
  })
  return { described, schemaUrl }
}

/** Reads a message up to its first error, which refuses no span. */
const lenient = (bytes: Buffer, values: Count, read: (message: Message, key: number) => boolean): void => {
  const message = new Message(bytes, values)
  try {
    message.read((key) => read(message, key))
  } catch (error) {
    // Keep what was read so far.
    if (error instanceof Failure) throw error
  }
}

const readSpan = (bytes: Buffer, values: Count): Span | SpanRefusal => {
  try {
    return spanIn(new Message(bytes, values))
  } catch (error) {
    if (error instanceof Failure) throw error
    return new SpanRefusal(
      error instanceof UnreadableSpan ? error.message : 'it is not a Span in protobuf, or it is truncated',
    )
  }
}

const spanIn = (message: Message): Span => {
  const attributes: JsonObject = {}
  const events: SpanEvent[] = []
  const links: SpanLink[] = []
  const span = {
    ...{ traceId: '', spanId: '', parentSpanId: '', traceState: '', flags: 0, name: '', kind: 0 },
    ...{ start: 0n, end: 0n, attributes, droppedAttributes: 0 },
    ...{ events, droppedEvents: 0, links, droppedLinks: 0, status: { code: 0, message: '' } },
  }
  message.read((key) => {
    if (key === LEN(9)) readAttribute(message, attributes, 0)
    else if (key === LEN(1)) span.traceId = message.text('hex')
    else if (key === LEN(2)) span.spanId = message.text('hex')
    else if (key === LEN(3)) span.traceState = message.text()
    else if (key === LEN(4)) span.parentSpanId = message.text('hex')
    else if (key === LEN(5)) span.name = message.text()
    else if (key === VARINT(6)) span.kind = message.uint32()
    else if (key === I64(7)) span.start = message.time()
    else if (key === I64(8)) span.end = message.time()
    else if (key === VARINT(10)) span.droppedAttributes = message.uint32()
    else if (key === LEN(11)) events.push(eventIn(message))
    else if (key === VARINT(12)) span.droppedEvents = message.uint32()
    else if (key === LEN(13)) links.push(linkIn(message))
    else if (key === VARINT(14)) span.droppedLinks = message.uint32()
    else if (key === LEN(15)) span.status = statusIn(message)
    else if (key === I32(16)) span.flags = message.fixed32()
    else if (key === I64(1)) throw new UnreadableSpan(LOG_RECORD)
    else return false
    return true
  })
  return span
}

const statusIn = (message: Message): Span['status'] => {
  const status = { code: 0, message: '' }
  message.read((key) => {
    if (key === LEN(2)) status.message = message.text()
    else if (key === VARINT(3)) status.code = message.uint32()
    else return false
    return true
  }, message.end())
  return status
}

const eventIn = (message: Message): SpanEvent => {
  message.count()
  const attributes: JsonObject = {}
  const event = { time: 0n, name: '', attributes, droppedAttributes: 0 }
  message.read((key) => {
    if (key === I64(1)) event.time = message.time()
    else if (key === LEN(2)) event.name = message.text()
    else if (key === LEN(3)) readAttribute(message, attributes, 0)
    else if (key === VARINT(4)) event.droppedAttributes = message.uint32()
    else return false
    return true
  }, message.end())
  return event
}

const linkIn = (message: Message): SpanLink => {
  message.count()
  const attributes: JsonObject = {}
  const link = { traceId: '', spanId: '', traceState: '', flags: 0, attributes, droppedAttributes: 0 }
  message.read((key) => {
    if (key === LEN(1)) link.traceId = message.text('hex')
    else if (key === LEN(2)) link.spanId = message.text('hex')
    else if (key === LEN(3)) link.traceState = message.text()
    else if (key === LEN(4)) readAttribute(message, attributes, 0)
    else if (key === VARINT(5)) link.droppedAttributes = message.uint32()
    else if (key === I32(6)) link.flags = message.fixed32()
    else return false
    return true
  }, message.end())
  return link
}

/** Reads a KeyValue into an object. Of repeated keys the last one counts. */
const readAttribute = (message: Message, into: JsonObject, depth: number): void => {
  message.count()
  const end = message.end()
  let key = ''
  let valueAt = -1
  while (message.pos < end) {
    const field = message.uint32()
    if (field === LEN(1)) key = message.text()
    else if (field === LEN(2)) {
      valueAt = message.pos
      message.pos = message.end()
    } else message.skipField(field)
  }
  if (message.pos !== end) throw new RangeError('a field is longer than its message')
  setMember(into, key, null)
  if (valueAt < 0) return
  message.pos = valueAt
  readValue(message, into, key, depth)
  message.pos = end
}

/** Reads an AnyValue into an element or a member that is null until then. */
const readValue = (message: Message, into: object, key: string | number, depth: number): void => {
  if (depth > DEEPEST) throw new UnreadableSpan(TOO_DEEP)
  const end = message.end()
  while (message.pos < end) {
    const field = message.uint32()
    if (field === LEN(1)) setMember(into, key, message.text())
    else if (field === VARINT(2)) setMember(into, key, message.bool())
    else if (field === VARINT(3)) setWhole(into, key, BigInt(message.int64()))
    else if (field === I64(4)) setDouble(into, key, message.double())
    else if (field === LEN(7)) setMember(into, key, message.text('base64'))
    else if (field === LEN(5)) setMember(into, key, listIn(message, depth + 1))
    else if (field === LEN(6)) setMember(into, key, membersIn(message, depth + 1))
    else message.skipField(field)
  }
  if (message.pos !== end) throw new RangeError('a field is longer than its message')
}

const listIn = (message: Message, depth: number): readonly Json[] => {
  const list: Json[] = []
  message.read((key) => {
    if (key !== LEN(1)) return false
    message.countValue()
    readValue(message, list, list.push(null) - 1, depth)
    return true
  }, message.end())
  return list
}

const membersIn = (message: Message, depth: number): JsonObject => {
  const members: JsonObject = {}
  message.read((key) => {
    if (key !== LEN(1)) return false
    readAttribute(message, members, depth)
    return true
  }, message.end())
  return members
}
