import { BinaryReader } from '@bufbuild/protobuf/wire'
import type { Json, JsonObject } from '../../kernel/json/json.js'
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
 * Reads an `ExportTraceServiceRequest` (opentelemetry-proto 1.11). Each span is read by itself, so that one that cannot be
 * read refuses no other. Text that is no UTF-8 has U+FFFD in its place. Unknown fields are skipped.
 *
 * @throws NotARequest
 */
export const spansInProtobuf = async (bytes: Buffer): Promise<readonly ReceivedSpan[]> => {
  const received: ReceivedSpan[] = []
  try {
    await readInto(received, bytes)
  } catch {
    throw new NotARequest('the body is no ExportTraceServiceRequest in protobuf, or it is cut off')
  }
  return received
}

const readInto = async (received: ReceivedSpan[], bytes: Buffer): Promise<void> => {
  const pause = yielding()
  for (const [r, ofResource] of messagesIn(bytes, 1).entries()) {
    const resource = resourceOf(ofResource)
    for (const [s, ofScope] of messagesIn(ofResource, 2).entries()) {
      const scope = scopeOf(ofScope)
      for (const [n, span] of messagesIn(ofScope, 2).entries()) {
        const place = `resourceSpans[${r}].scopeSpans[${s}].spans[${n}]`
        received.push({ place, resource, scope, span: readSpan(span) })
        await pause()
      }
    }
  }
}

/** The elements of a repeated field, unread. */
const messagesIn = (bytes: Uint8Array, field: number): readonly Uint8Array[] => {
  const found: Uint8Array[] = []
  eachField(bytes, (key, reader) => key === LEN(field) && found.push(reader.bytes()) > 0)
  return found
}

const resourceOf = (ofResource: Uint8Array): Resource => {
  let described: Uint8Array = NOTHING
  let schemaUrl = ''
  eachField(ofResource, (key, reader) => {
    if (key === LEN(1)) described = reader.bytes()
    else if (key === LEN(3)) schemaUrl = reader.string()
    else return false
    return true
  })
  const attributes: JsonObject = {}
  let droppedAttributes = 0
  lenient(described, (key, reader) => {
    if (key === LEN(1)) readAttribute(reader, attributes, 0)
    else if (key === VARINT(2)) droppedAttributes = reader.uint32()
    else return false
    return true
  })
  return { attributes, droppedAttributes, schemaUrl }
}

const scopeOf = (ofScope: Uint8Array): Scope => {
  let described: Uint8Array = NOTHING
  let schemaUrl = ''
  eachField(ofScope, (key, reader) => {
    if (key === LEN(1)) described = reader.bytes()
    else if (key === LEN(3)) schemaUrl = reader.string()
    else return false
    return true
  })
  const attributes: JsonObject = {}
  let [name, version, droppedAttributes] = ['', '', 0]
  lenient(described, (key, reader) => {
    if (key === LEN(1)) name = reader.string()
    else if (key === LEN(2)) version = reader.string()
    else if (key === LEN(3)) readAttribute(reader, attributes, 0)
    else if (key === VARINT(4)) droppedAttributes = reader.uint32()
    else return false
    return true
  })
  return { name, version, attributes, droppedAttributes, schemaUrl }
}

const readSpan = (bytes: Uint8Array): Span | SpanRefusal => {
  try {
    return spanIn(bytes)
  } catch (error) {
    return new SpanRefusal(
      error instanceof UnreadableSpan ? error.message : 'it is no Span in protobuf, or it is cut off',
    )
  }
}

class UnreadableSpan extends Error {
  override readonly name = 'UnreadableSpan'
}

const spanIn = (bytes: Uint8Array): Span => {
  const attributes: JsonObject = {}
  const events: SpanEvent[] = []
  const links: SpanLink[] = []
  const status = { code: 0, message: '' }
  const span = {
    ...{ traceId: '', spanId: '', parentSpanId: '', traceState: '', flags: 0, name: '', kind: 0 },
    ...{
      start: 0n,
      end: 0n,
      attributes,
      droppedAttributes: 0,
      events,
      droppedEvents: 0,
      links,
      droppedLinks: 0,
      status,
    },
  }
  eachField(bytes, (key, reader) => {
    switch (key) {
      case LEN(1):
        span.traceId = hexOf(reader.bytes())
        return true
      case LEN(2):
        span.spanId = hexOf(reader.bytes())
        return true
      case LEN(3):
        span.traceState = reader.string()
        return true
      case LEN(4):
        span.parentSpanId = hexOf(reader.bytes())
        return true
      case LEN(5):
        span.name = reader.string()
        return true
      case VARINT(6):
        span.kind = reader.uint32()
        return true
      case I64(7):
        span.start = BigInt(reader.fixed64())
        return true
      case I64(8):
        span.end = BigInt(reader.fixed64())
        return true
      case LEN(9):
        readAttribute(reader, attributes, 0)
        return true
      case VARINT(10):
        span.droppedAttributes = reader.uint32()
        return true
      case LEN(11):
        events.push(eventIn(reader.bytes()))
        return true
      case VARINT(12):
        span.droppedEvents = reader.uint32()
        return true
      case LEN(13):
        links.push(linkIn(reader.bytes()))
        return true
      case VARINT(14):
        span.droppedLinks = reader.uint32()
        return true
      case LEN(15):
        eachField(reader.bytes(), (part, inner) => {
          if (part === LEN(2)) status.message = inner.string()
          else if (part === VARINT(3)) status.code = inner.uint32()
          else return false
          return true
        })
        return true
      case I32(16):
        span.flags = reader.fixed32()
        return true
      case I64(1):
        throw new UnreadableSpan(LOG_RECORD)
      default:
        return false
    }
  })
  return span
}

const eventIn = (bytes: Uint8Array): SpanEvent => {
  const attributes: JsonObject = {}
  const event = { time: 0n, name: '', attributes, droppedAttributes: 0 }
  eachField(bytes, (key, reader) => {
    if (key === I64(1)) event.time = BigInt(reader.fixed64())
    else if (key === LEN(2)) event.name = reader.string()
    else if (key === LEN(3)) readAttribute(reader, attributes, 0)
    else if (key === VARINT(4)) event.droppedAttributes = reader.uint32()
    else return false
    return true
  })
  return event
}

const linkIn = (bytes: Uint8Array): SpanLink => {
  const attributes: JsonObject = {}
  const link = { traceId: '', spanId: '', traceState: '', flags: 0, attributes, droppedAttributes: 0 }
  eachField(bytes, (key, reader) => {
    if (key === LEN(1)) link.traceId = hexOf(reader.bytes())
    else if (key === LEN(2)) link.spanId = hexOf(reader.bytes())
    else if (key === LEN(3)) link.traceState = reader.string()
    else if (key === LEN(4)) readAttribute(reader, attributes, 0)
    else if (key === VARINT(5)) link.droppedAttributes = reader.uint32()
    else if (key === I32(6)) link.flags = reader.fixed32()
    else return false
    return true
  })
  return link
}

/** Reads a KeyValue into an object. Of repeated keys the last one counts. */
const readAttribute = (reader: BinaryReader, into: JsonObject, depth: number): void => {
  let key = ''
  let value: Uint8Array = NOTHING
  eachField(reader.bytes(), (field, inner) => {
    if (field === LEN(1)) key = inner.string()
    else if (field === LEN(2)) value = inner.bytes()
    else return false
    return true
  })
  setMember(into, key, null)
  readValue(value, into, key, depth)
}

/** Reads an AnyValue into an element or a member that is null until then. */
const readValue = (bytes: Uint8Array, into: object, key: string | number, depth: number): void => {
  if (depth > DEEPEST) throw new UnreadableSpan(TOO_DEEP)
  eachField(bytes, (field, reader) => {
    if (field === LEN(1)) setMember(into, key, reader.string())
    else if (field === VARINT(2)) setMember(into, key, reader.bool())
    else if (field === VARINT(3)) setWhole(into, key, BigInt(reader.int64()))
    else if (field === I64(4)) setDouble(into, key, reader.double())
    else if (field === LEN(7)) setMember(into, key, Buffer.from(reader.bytes()).toString('base64'))
    else if (field === LEN(5)) {
      const list: Json[] = []
      eachField(reader.bytes(), (part, inner) => {
        if (part !== LEN(1)) return false
        readValue(inner.bytes(), list, list.push(null) - 1, depth + 1)
        return true
      })
      setMember(into, key, list)
    } else if (field === LEN(6)) {
      const members: JsonObject = {}
      eachField(reader.bytes(), (part, inner) => {
        if (part !== LEN(1)) return false
        readAttribute(inner, members, depth + 1)
        return true
      })
      setMember(into, key, members)
    } else return false
    return true
  })
}

const hexOf = (bytes: Uint8Array): string => (bytes as Buffer).toString('hex')

const utf8 = (bytes: Uint8Array): string => (bytes as Buffer).toString('utf8')

const NOTHING = Buffer.alloc(0)

/** A field and how it is encoded. A field that is encoded in another way is skipped like an unknown one. */
const VARINT = (field: number): number => field << 3
const I64 = (field: number): number => (field << 3) | 1
const LEN = (field: number): number => (field << 3) | 2
const I32 = (field: number): number => (field << 3) | 5

/** @throws RangeError and others, for bytes that are no message */
const eachField = (bytes: Uint8Array, read: (key: number, reader: BinaryReader) => boolean): void => {
  const reader = new BinaryReader(bytes, utf8)
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag()
    if (!read((field << 3) | wire, reader)) reader.skip(wire, field)
  }
}

/** What can be read of bytes that describe spans, so that they refuse none. */
const lenient = (bytes: Uint8Array, read: (key: number, reader: BinaryReader) => boolean): void => {
  try {
    eachField(bytes, read)
  } catch {
    // What was read before counts.
  }
}
