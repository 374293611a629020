import { randomBytes } from 'node:crypto'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { Json, JsonObject } from '../../src/kernel/json/json.js'

/** An `ExportTraceServiceRequest` in JSON. */
export interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource?: JsonObject
    readonly scopeSpans: readonly { readonly scope?: JsonObject; readonly spans: readonly JsonObject[] }[]
  }[]
}

export const hexId = (bytes: number): string => randomBytes(bytes).toString('hex')

/** Attributes in JSON, of values that are texts unless they say their type: `{ intValue: 1 }`. */
export const attributesOf = (values: Readonly<Record<string, string | JsonObject>>): Json =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : value,
  }))

/** A finished root span of its own trace. */
export const someSpan = (more: JsonObject = {}): JsonObject => ({
  traceId: hexId(16),
  spanId: hexId(8),
  name: 'step',
  kind: 1,
  startTimeUnixNano: '1700000000000000000',
  endTimeUnixNano: '1700000001000000000',
  ...more,
})

export const requestOf = (
  spans: readonly JsonObject[],
  resource: Readonly<Record<string, string | JsonObject>> = {},
): OtlpRequest => ({
  resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans: [{ spans }] }],
})

/** The id of the call of a span. */
export const callOf = ({ traceId, spanId }: JsonObject): string => `${traceId as string}-${spanId as string}`

type Write = (writer: BinaryWriter, value: Json) => unknown

const text =
  (field: number): Write =>
  (writer, value) =>
    writer.tag(field, WireType.LengthDelimited).string(value as string)
const hex =
  (field: number): Write =>
  (writer, value) =>
    writer.tag(field, WireType.LengthDelimited).bytes(Buffer.from(value as string, 'hex'))
const uint =
  (field: number): Write =>
  (writer, value) =>
    writer.tag(field, WireType.Varint).uint32(Number(value))
const time =
  (field: number): Write =>
  (writer, value) =>
    writer.tag(field, WireType.Bit64).fixed64(value as string)
const bytes =
  (field: number, encode: (value: Json) => Uint8Array): Write =>
  (writer, value) =>
    writer.tag(field, WireType.LengthDelimited).bytes(encode(value))
const each =
  (field: number, encode: (value: Json) => Uint8Array): Write =>
  (writer, value) => {
    for (const element of value as readonly Json[])
      writer.tag(field, WireType.LengthDelimited).bytes(encode(element))
  }

/** Writes the members that it knows. */
const message =
  (fields: () => Readonly<Record<string, Write>>) =>
  (value: Json): Uint8Array => {
    const writer = new BinaryWriter()
    const known = fields()
    for (const [name, member] of Object.entries(value as JsonObject)) known[name]?.(writer, member)
    return writer.finish()
  }

const anyValue: (value: Json) => Uint8Array = message(() => ({
  stringValue: text(1),
  boolValue: (writer, value) => writer.tag(2, WireType.Varint).bool(value as boolean),
  intValue: (writer, value) => writer.tag(3, WireType.Varint).int64(value as string),
  doubleValue: (writer, value) => writer.tag(4, WireType.Bit64).double(Number(value)),
  arrayValue: bytes(
    5,
    message(() => ({ values: each(1, anyValue) })),
  ),
  kvlistValue: bytes(
    6,
    message(() => ({ values: attributes(1) })),
  ),
}))

const keyValue = message(() => ({ key: text(1), value: bytes(2, anyValue) }))
const attributes = (field: number): Write => each(field, keyValue)

const event = message(() => ({ timeUnixNano: time(1), name: text(2), attributes: attributes(3) }))
const link = message(() => ({ traceId: hex(1), spanId: hex(2), attributes: attributes(4) }))
const status = message(() => ({ message: text(2), code: uint(3) }))

export const spanInProtobuf = message(() => ({
  ...{ traceId: hex(1), spanId: hex(2), parentSpanId: hex(4), name: text(5), kind: uint(6) },
  ...{ startTimeUnixNano: time(7), endTimeUnixNano: time(8), attributes: attributes(9) },
  ...{ events: each(11, event), links: each(13, link), status: bytes(15, status) },
}))

const scope = message(() => ({ name: text(1), version: text(2), attributes: attributes(3) }))
const scopeSpans = message(() => ({ scope: bytes(1, scope), spans: each(2, spanInProtobuf) }))
const resource = message(() => ({ attributes: attributes(1) }))
const resourceSpans = message(() => ({ resource: bytes(1, resource), scopeSpans: each(2, scopeSpans) }))

/** A request in protobuf, of the same request in JSON. */
export const inProtobuf = (request: OtlpRequest): Buffer =>
  Buffer.from(message(() => ({ resourceSpans: each(1, resourceSpans) }))(request as unknown as Json))

/** A request in protobuf of spans that are encoded already. */
export const requestOfBytes = (spans: readonly Uint8Array[]): Buffer => {
  const inner = new BinaryWriter()
  for (const span of spans) inner.tag(2, WireType.LengthDelimited).bytes(span)
  const outer = new BinaryWriter().tag(2, WireType.LengthDelimited).bytes(inner.finish()).finish()
  return Buffer.from(new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(outer).finish())
}
