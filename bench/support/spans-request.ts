import { randomBytes } from 'node:crypto'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

const { LengthDelimited: BYTES, Varint: VARINT, Bit64: FIXED } = WireType

/** An `ExportTraceServiceRequest` of model calls in one trace, each with a prompt and an answer of this text. */
export const spansRequest = (spans: number, text: string): Buffer => {
  const inScope = new BinaryWriter()
  inScope.tag(1, BYTES).bytes(new BinaryWriter().tag(1, BYTES).string('bench').finish())
  const trace = randomBytes(16)
  for (let n = 0; n < spans; n += 1) inScope.tag(2, BYTES).bytes(span(trace, text))
  const ofResource = new BinaryWriter().tag(2, BYTES).bytes(inScope.finish())
  return Buffer.from(new BinaryWriter().tag(1, BYTES).bytes(ofResource.finish()).finish())
}

const span = (trace: Buffer, text: string): Uint8Array => {
  const writer = new BinaryWriter()
  writer.tag(1, BYTES).bytes(trace).tag(2, BYTES).bytes(randomBytes(8)).tag(5, BYTES).string('chat gpt-4o')
  writer
    .tag(6, VARINT)
    .uint32(3)
    .tag(7, FIXED)
    .fixed64(START)
    .tag(8, FIXED)
    .fixed64(`${BigInt(START) + 1_333_000_000n}`)
  const message = (role: string) => JSON.stringify([{ role, parts: [{ type: 'text', content: text }] }])
  for (const [key, value] of [
    ['gen_ai.operation.name', 'chat'],
    ['gen_ai.provider.name', 'openai'],
    ['gen_ai.request.model', 'gpt-4o'],
    ['gen_ai.response.model', 'gpt-4o'],
    ['gen_ai.response.id', randomBytes(12).toString('hex')],
    ['gen_ai.input.messages', message('user')],
    ['gen_ai.output.messages', message('assistant')],
    ['gen_ai.usage.input_tokens', 123],
    ['gen_ai.usage.output_tokens', 45],
  ] as const) {
    const any = new BinaryWriter()
    if (typeof value === 'string') any.tag(1, BYTES).string(value)
    else any.tag(3, VARINT).int64(value)
    writer
      .tag(9, BYTES)
      .bytes(new BinaryWriter().tag(1, BYTES).string(key).tag(2, BYTES).bytes(any.finish()).finish())
  }
  return writer.finish()
}

const START = '1767225600123000000'
