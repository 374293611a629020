import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { Failure } from '../../application/failure.js'
import { STATUS } from '../../application/failure-status.js'
import type { JsonObject } from '../../kernel/json/json.js'

export const PROTOBUF = 'application/x-protobuf'
export const JSON_TYPE = 'application/json'

export type OtlpEncoding = typeof PROTOBUF | typeof JSON_TYPE

/** The encoding of a request, and so of its response: the media type without parameters. */
export const encodingOf = (contentType: string | undefined): OtlpEncoding | undefined => {
  const type = contentType?.split(';')[0]!.trim().toLowerCase()
  return type === PROTOBUF || type === JSON_TYPE ? type : undefined
}

/** The number of rejected spans, and why. A message with 0 rejected spans is a warning. */
export interface PartialSuccess {
  readonly rejected: number
  readonly message: string
}

/** An `ExportTraceServiceResponse`. */
export const exportResponse = (encoding: OtlpEncoding, partial: PartialSuccess | undefined): Buffer => {
  if (encoding === JSON_TYPE)
    return jsonBytes(
      partial === undefined
        ? {}
        : { partialSuccess: { rejectedSpans: String(partial.rejected), errorMessage: partial.message } },
    )
  if (partial === undefined) return Buffer.alloc(0)
  const inner = new BinaryWriter()
  if (partial.rejected > 0) inner.tag(1, WireType.Varint).int64(partial.rejected)
  inner.tag(2, WireType.LengthDelimited).string(partial.message)
  return Buffer.from(new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(inner.finish()).finish())
}

interface OtlpStatus {
  /** Of HTTP. */
  readonly status: number
  /** Of gRPC. */
  readonly code: number
  readonly message: string
  /** In seconds. Without it, exporters drop the spans. */
  readonly retryAfter: number | undefined
}

/** The response to a failure. An unexpected error, without a `Failure`, is a 503, so that exporters retry. */
export const otlpStatusOf = (failure: Failure | undefined): OtlpStatus => {
  const kind = failure?.kind ?? 'overloaded'
  const status = STATUS[kind === 'invalid' ? 'bad-request' : kind]
  const problems = failure?.details.problems?.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`) ?? []
  const reason = [failure?.reason ?? 'Internal server error. Try again.', ...problems].join(' ')
  return {
    status,
    code: GRPC_CODES[status] ?? UNKNOWN,
    message: reason.slice(0, 1000).toWellFormed(),
    retryAfter: RETRYABLE.has(status) ? (failure?.details.retryAfter ?? 5) : undefined,
  }
}

const RETRYABLE = new Set([STATUS['rate-limited'], STATUS.overloaded])

const UNKNOWN = 2

/** The codes of gRPC for statuses of HTTP. */
const GRPC_CODES: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  409: 9,
  413: 8,
  415: 3,
  429: 8,
  503: 14,
  504: 4,
}

/** A `google.rpc.Status`. */
export const statusResponse = (
  encoding: OtlpEncoding,
  code: number,
  message: string,
  retryAfter?: number,
): Buffer => {
  if (encoding === JSON_TYPE) return jsonBytes({ code, message })
  const writer = new BinaryWriter()
    .tag(1, WireType.Varint)
    .int32(code)
    .tag(2, WireType.LengthDelimited)
    .string(message)
  if (retryAfter !== undefined) writer.tag(3, WireType.LengthDelimited).bytes(retryInfo(retryAfter))
  return Buffer.from(writer.finish())
}

/** A `google.rpc.RetryInfo` as an `Any`. */
const retryInfo = (seconds: number): Uint8Array => {
  const duration = new BinaryWriter().tag(1, WireType.Varint).int64(seconds).finish()
  const info = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(duration).finish()
  return new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string('type.googleapis.com/google.rpc.RetryInfo')
    .tag(2, WireType.LengthDelimited)
    .bytes(info)
    .finish()
}

const jsonBytes = (value: JsonObject): Buffer => Buffer.from(JSON.stringify(value))
