import type { Json, JsonObject } from '../../kernel/json/json.js'
import { textIn, textOf, textOfField, viewOf } from './attributes.js'
import { attributesOf, kindOf } from './call-attributes.js'
import { inputsOf, outputOf } from './content.js'
import { GENERIC_NAMES, NAMES } from './conventions.js'
import { exceptionOf } from './errors.js'
import { isRoot, type Resource, type Scope, type Span } from './span.js'
import { nanosecondsOf } from './time.js'
import { countOf, usageOf } from './usage.js'

/** What the conventions of instrumentations say about a span. */
export interface SpanMeaning {
  readonly displayName: string | null
  readonly inputs: JsonObject
  readonly output: Json
  /** Kind, model, provider, parameters, agent, tool, user, tags, metadata, as far as they are known. */
  readonly attributes: JsonObject
  /** The model whose usage it is; null without usage. */
  readonly model: string | null
  /** An entry of `summary.usage`; null where the span reports no figures. */
  readonly usage: JsonObject | null
  /** The id that the provider gave to its response. */
  readonly responseId: string | null
  readonly exception: string | null
  readonly threadId: string | null
  /** The call of an SDK that encloses the trace of the span. */
  readonly parentCall: { readonly id: string; readonly traceId: string } | null
  readonly run: { readonly id: string | null; readonly step: number | null; readonly stepEnd: number | null }
  /** Times that replace those of the span, in nanoseconds since 1970. */
  readonly start: bigint | null
  readonly end: bigint | null
  /** Whether it is only sent while another span, which is sent later, is running. */
  readonly isPlaceholder: boolean
}

/** Reads a span leniently by all conventions at once. Never fails: what is not understood is absent. */
export const meaningOf = (span: Span, scope: Scope, resource: Resource): SpanMeaning => {
  const view = viewOf(span)
  const { attributes } = view
  const usage = usageOf(attributes)
  const model = textOfField(view, 'model')
  const kind = kindOf(view, scope, usage !== null || model !== undefined)
  const session = textOfField(view, 'session')
  return {
    displayName: displayNameOf(span),
    inputs: inputsOf(view, kind),
    output: outputOf(view, kind),
    attributes: attributesOf(view, resource, { kind, model, session }),
    model: usage === null ? null : (model ?? 'unknown'),
    usage,
    responseId: textOfField(view, 'responseId') ?? null,
    exception: exceptionOf(span),
    threadId: textOfField(view, 'thread') ?? session ?? null,
    parentCall: parentCallOf(attributes),
    run: runOf(attributes),
    start: nanosecondsOf(textOf(attributes['langfuse.startTime']) ?? ''),
    end: nanosecondsOf(textOf(attributes['langfuse.endTime']) ?? ''),
    isPlaceholder: attributes['logfire.span_type'] === 'pending_span',
  }
}

/** Names that a person reads, where the name of the span is a template or says nothing. */
const displayNameOf = (span: Span): string | null => {
  const { name, attributes } = span
  const named =
    textOf(attributes['wandb.display_name']) ??
    (isRoot(span) ? textOf(attributes['langfuse.trace.name']) : undefined) ??
    textOf(attributes['logfire.msg']) ??
    (GENERIC_NAMES.has(name) ? textIn(attributes, [...NAMES.tool, ...NAMES.agent]) : undefined)
  return named === undefined || named === name ? null : named
}

/** The op of the Weave SDK that encloses the trace. */
const parentCallOf = (attributes: JsonObject): SpanMeaning['parentCall'] => {
  const id = textOf(attributes['weave.parent_call.id'])
  const traceId = textOf(attributes['weave.parent_call.trace_id'])
  return id === undefined || traceId === undefined ? null : { id, traceId }
}

const runOf = (attributes: JsonObject): SpanMeaning['run'] => {
  const id = textOf(attributes['wandb.wb_run_id'])
  return {
    id: id === undefined || /[/:]/.test(id) ? null : id,
    step: countOf(attributes['wandb.wb_run_step']) ?? null,
    stepEnd: countOf(attributes['wandb.wb_run_step_end']) ?? null,
  }
}
