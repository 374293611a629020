import type { RuleFilter } from '../../domain/evaluations/rules/events.js'
import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import type { Cause } from '../../kernel/event.js'
import type { Json } from '../../kernel/json/json.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { EvaluationPorts } from './ports.js'

/** A score of a call, to be recorded as feedback. */
export interface CallScore {
  readonly projectId: string
  /** Of the feedback; recording the same id again writes nothing. */
  readonly id: string
  readonly callId: string
  readonly scorer: string
  readonly scorerRef: string
  /** The call of the scorer; null where none was recorded. */
  readonly scoreCallId: string | null
  readonly value: Json
}

/** What evaluation rules ask of the rest of the service. */
export interface RulePorts extends Pick<
  EvaluationPorts,
  'eventStore' | 'sha256' | 'clock' | 'log' | 'scorer' | 'call' | 'writeCalls' | 'throttle'
> {
  /**
   * Those of the calls that a filter selects, as `/calls/query` does.
   *
   * @throws if the read models do not reach the position in time
   */
  readonly selectCalls: (
    projectId: string,
    filter: RuleFilter,
    callIds: readonly string[],
    position: Position,
  ) => Promise<readonly string[]>
  /** Calls in pages, for bounded memory. */
  readonly loadCalls: (
    projectId: string,
    callIds: readonly string[],
  ) => AsyncIterable<readonly EvaluationCall[]>
  /** Those of the traces that hold an evaluation run, or begin with a call of an evaluation or a rule. */
  readonly tracesOfEvaluations: (
    projectId: string,
    traceIds: readonly string[],
  ) => Promise<ReadonlySet<string>>
  readonly giveScore: (score: CallScore, cause: Cause) => Promise<void>
}
