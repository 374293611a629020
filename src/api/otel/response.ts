import { BinaryWriter } from '@bufbuild/protobuf/wire'
import type { JsonObject } from '../../kernel/json/json.js'

export const PROTOBUF = 'application/x-protobuf'
export const JSON_TYPE = 'application/json'

export type OtlpEncoding = typeof PROTOBUF | typeof JSON_TYPE

/** The encoding of a request, and so of its response: the media type without parameters. */
export const encodingOf = (contentType: string | undefined): OtlpEncoding | undefined => {
  const type = contentType?.split(';')[0]!.trim().toLowerCase()
  return type === PROTOBUF || type === JSON_TYPE ? type : undefined
}

/** What of a request was not recorded. Rejected 0 with a message is a warning. */
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
  if (partial.rejected > 0) inner.tag(1, 0).int64(partial.rejected)
  inner.tag(2, 2).string(partial.message)
  return Buffer.from(new BinaryWriter().tag(1, 2).bytes(inner.finish()).finish())
}

/** A `google.rpc.Status`. */
export const statusResponse = (encoding: OtlpEncoding, code: number, message: string): Buffer =>
  encoding === JSON_TYPE
    ? jsonBytes({ code, message })
    : Buffer.from(new BinaryWriter().tag(1, 0).int32(code).tag(2, 2).string(message).finish())

const jsonBytes = (value: JsonObject): Buffer => Buffer.from(JSON.stringify(value))
