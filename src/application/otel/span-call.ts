import { displayName as displayNameCodec } from '../../domain/calls/content.js'
import { meaningOf } from '../../domain/otel/meaning.js'
import type { SpanMeaning } from '../../domain/otel/meaning.js'
import { isRoot, type Resource, type Scope, type Span } from '../../domain/otel/span.js'
import { instantOfNanoseconds } from '../../domain/otel/time.js'
import { id as idCodec } from '../../kernel/ids.js'
import { endCall, startCall, type CallWrite } from '../calls/record.js'
import { dumpOf } from './dump.js'

/** The id of the call of a span. A span id alone may be that of a span of another trace too. */
const spanCallId = (traceId: string, spanId: string): string => `${traceId}-${spanId}`

/**
 * The call of a span. A span that has not ended is a start, and its end follows with the span that has. Spans of the SDK
 * weave are in the trace of the call around them.
 */
export const spanWrites = (
  projectId: string,
  span: Span,
  scope: Scope,
  resource: Resource,
): readonly CallWrite[] => {
  const meaning = meaningOf(span, scope, resource)
  if (meaning.isPlaceholder) return []
  const id = spanCallId(span.traceId, span.spanId)
  const start = meaning.start ?? (span.start === 0n ? span.end : span.start)
  const thread = validId(meaning.threadId)
  const isRunning = span.end === 0n
  const started = startCall(
    id,
    {
      project_id: projectId,
      op_name: upToBytes(span.name, 8192),
      display_name: displayNameOf(meaning),
      trace_id: validId(meaning.parentCall?.traceId ?? null) ?? span.traceId,
      parent_id: parentOf(span, meaning),
      thread_id: thread,
      turn_id: thread === null ? null : id,
      started_at: instantOfNanoseconds(start),
      attributes: meaning.attributes,
      inputs: meaning.inputs,
      otel_dump: dumpOf(span, scope, resource),
      wb_run_id: validId(meaning.run.id),
      wb_run_step: meaning.run.step,
    },
    'otel',
  )
  if (isRunning) return [{ ...started, isRunning }]
  const ended = endCall({
    project_id: projectId,
    id,
    ended_at: instantOfNanoseconds(meaning.end ?? span.end),
    output: meaning.output,
    summary: meaning.usage === null ? {} : { usage: { [meaning.model ?? 'unknown']: meaning.usage } },
    exception: meaning.exception,
    wb_run_step_end: meaning.run.stepEnd,
  })
  return [started, { ...ended, usage: { ...ended.usage, response_id: meaning.responseId } }]
}

const parentOf = (span: Span, { parentCall }: SpanMeaning): string | null =>
  isRoot(span) ? validId(parentCall?.id ?? null) : spanCallId(span.traceId, span.parentSpanId)

const validId = (text: string | null): string | null => (text !== null && idCodec.is(text) ? text : null)

const displayNameOf = ({ displayName }: SpanMeaning): string | null => {
  if (displayName === null || displayName === '') return null
  return displayNameCodec.is(displayName) ? displayName : upToBytes(displayName, 1024)
}

/** The longest beginning of a text within a limit of bytes of UTF-8, without half a character. */
const upToBytes = (text: string, most: number): string => {
  const bytes = Buffer.from(text)
  if (bytes.length <= most) return text
  return bytes.subarray(0, most).toString('utf8').replace(/�+$/, '')
}
