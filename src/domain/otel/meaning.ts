import type { Json, JsonObject } from '../../kernel/json/json.js'

/** What the conventions of instrumentations say about a span. */
export interface SpanMeaning {
  readonly displayName: string | null
  readonly inputs: JsonObject
  readonly output: Json
  /** Kind, model, provider, parameters, agent, tools, user, tags, metadata: those that are known. */
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
}
