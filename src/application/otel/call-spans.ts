import type { CallEnded, CallStarted } from '../../domain/calls/call.js'
import { opOf } from '../../domain/calls/op.js'
import type { WholeSpan } from '../../domain/otel/encode.js'
import { inputMessages, outputMessages } from '../../domain/otel/genai-messages.js'
import type { Span } from '../../domain/otel/span.js'
import { microseconds, type Instant } from '../../kernel/codec/instant.js'
import { projectNameOf } from '../../kernel/ids.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import { spanOfDump } from './dump.js'
import type { CallUsage, UsageOfModel } from './log-usage.js'

interface FinishedCall {
  readonly start: CallStarted
  readonly end: CallEnded
  /** Its usage without that of the calls below it. */
  readonly usage: CallUsage | undefined
}

/**
 * The spans of a call. One that came as a span is sent as it came. Receivers differ in how they count the usage of spans with
 * others below them, so only spans without any have usage: a call with calls below it, or with usage of several models, has
 * a span below it for each model.
 */
export const spansOfCall =
  (sha256: Sha256) =>
  ({ start, end, usage }: FinishedCall): readonly WholeSpan[] => {
    if (start.source === 'otel' && start.otel_dump !== null) {
      const { span, ...context } = spanOfDump(start.otel_dump)
      return [{ ...context, span: { ...span, end: span.end === 0n ? timeOf(end.ended_at) : span.end } }]
    }
    const { project_id: project, id, parent_id: parent } = start
    const models = usage?.models ?? []
    const isOwn = models.length === 1 && usage?.hasChildren === false
    const context = {
      scope: { name: 'tallytree', version: '', attributes: {}, droppedAttributes: 0, schemaUrl: '' },
      resource: {
        attributes: { 'service.name': projectNameOf(project), 'tallytree.project': project },
        droppedAttributes: 0,
        schemaUrl: '',
      },
    }
    const span = plainSpan({
      traceId: traceIdOf(sha256, project, start.trace_id),
      spanId: spanIdOf(sha256, project, id),
      parentSpanId: parent === null ? '' : spanIdOf(sha256, project, parent),
      name: opOf(start.op_name),
      kind: isOwn ? CLIENT : INTERNAL,
      start: timeOf(start.started_at),
      end: timeOf(end.ended_at),
      attributes: { ...contentOf(start, end), ...(isOwn && usageOf(start, models[0]!)) },
      status: end.exception === null ? { code: 0, message: '' } : { code: 2, message: end.exception },
    })
    const below = isOwn ? [] : models
    return [
      { span, ...context },
      ...below.map((used) => ({
        ...context,
        span: {
          ...span,
          spanId: spanIdOf(sha256, project, JSON.stringify([id, used.model])),
          parentSpanId: span.spanId,
          name: `usage ${used.model}`,
          kind: CLIENT,
          attributes: usageOf(start, used),
          status: { code: 0, message: '' },
        },
      })),
    ]
  }

const INTERNAL = 1
const CLIENT = 3

type PlainSpan = Omit<
  Span,
  'traceState' | 'flags' | 'droppedAttributes' | 'events' | 'droppedEvents' | 'links' | 'droppedLinks'
>

const plainSpan = (span: PlainSpan): Span => ({
  ...span,
  ...{ traceState: '', flags: 0, droppedAttributes: 0, events: [], droppedEvents: 0 },
  ...{ links: [], droppedLinks: 0 },
})

/** In nanoseconds; a time before 1970 has none. */
const timeOf = (instant: Instant): bigint => {
  const since = microseconds(instant) * 1000n
  return since < 0n ? 0n : since
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const ZEROS = /^[0-]*$/

const traceIdOf = (sha256: Sha256, project: string, trace: string): string =>
  UUID.test(trace) && !ZEROS.test(trace)
    ? trace.replaceAll('-', '').toLowerCase()
    : beginning(sha256, project, trace, 32)

/** `spanCallId`, the id of a call that came as a span. */
const OF_SPAN = /^[0-9a-f]{32}-([0-9a-f]{16})$/

const spanIdOf = (sha256: Sha256, project: string, id: string): string =>
  OF_SPAN.exec(id)?.[1] ?? beginning(sha256, project, id, 16)

const beginning = (sha256: Sha256, project: string, id: string, digits: number): string => {
  const found = sha256(JSON.stringify([project, id])).slice(0, digits)
  return ZEROS.test(found) ? '1'.padStart(digits, '0') : found
}

type Attributes = Readonly<Record<string, Json | undefined>>

const defined = (attributes: Attributes): JsonObject =>
  Object.fromEntries(
    Object.entries(attributes).filter(
      (one): one is [string, Json] => one[1] !== undefined && one[1] !== null,
    ),
  )

const contentOf = (start: CallStarted, { output, exception }: CallEnded): JsonObject => {
  const { display_name, thread_id, attributes } = start
  const inputs = start.inputs ?? {}
  const [asked, answered] = [inputMessages(inputs), outputMessages(output)]
  return defined({
    'gen_ai.conversation.id': thread_id,
    'wandb.display_name': display_name,
    ...(asked === undefined ? valueOf('input', inputs) : { 'gen_ai.input.messages': jsonText(asked) }),
    ...(answered === undefined
      ? valueOf('output', output)
      : { 'gen_ai.output.messages': jsonText(answered) }),
    metadata: attributes === null || Object.keys(attributes).length === 0 ? undefined : jsonText(attributes),
    'error.type': exception === null ? undefined : '_OTHER',
  })
}

const valueOf = (side: 'input' | 'output', value: Json): Attributes =>
  value === null ? {} : { [`${side}.value`]: jsonText(value), [`${side}.mime_type`]: 'application/json' }

/** Providers by the beginning of the name that SDKs give to their ops. */
const PROVIDERS: readonly (readonly [RegExp, string])[] = [
  [/^openai\b/, 'openai'],
  [/^anthropic\b/, 'anthropic'],
  [/^cohere\b/, 'cohere'],
  [/^groq\b/, 'groq'],
  [/^mistral(ai)?\b/, 'mistral_ai'],
  [/^google\.genai\b/, 'gcp.gen_ai'],
]

const usageOf = ({ op_name, inputs, source }: CallStarted, used: UsageOfModel): JsonObject => {
  const op = opOf(op_name)
  const requested = inputs?.['model']
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = used
  return defined({
    'gen_ai.operation.name': operationOf(op, inputs ?? {}),
    // The op of the gateway is the same for all providers.
    'gen_ai.provider.name':
      source === 'gateway' ? undefined : PROVIDERS.find(([beginning]) => beginning.test(op))?.[1],
    'gen_ai.request.model': typeof requested === 'string' ? requested : used.model,
    'gen_ai.response.model': used.model,
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.output_tokens': output,
    'gen_ai.usage.total_tokens': total === input + output ? undefined : total,
    'gen_ai.usage.cache_read.input_tokens': used.cache_read_input_tokens || undefined,
    'gen_ai.usage.cache_write.input_tokens': used.cache_creation_input_tokens || undefined,
  })
}

const operationOf = (op: string, inputs: JsonObject): string => {
  if (/embed/i.test(op)) return 'embeddings'
  if (inputs['messages'] === undefined && typeof inputs['prompt'] === 'string') return 'text_completion'
  return inputs['contents'] === undefined ? 'chat' : 'generate_content'
}
