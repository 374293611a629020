import type { Instant } from '../../kernel/codec/instant.js'
import type { EndState } from './events.js'

interface OfRun {
  readonly project_id: string
  readonly run_id: string
}

export interface StartRun extends OfRun {
  readonly type: 'StartRun'
  readonly name: string
  readonly user: string
  readonly now: Instant
}

/** Without a step it is never a repeat. */
export interface LogMetrics extends OfRun {
  readonly type: 'LogMetrics'
  readonly metrics: Readonly<Record<string, number>>
  readonly step: number | null
}

export interface EndRun extends OfRun {
  readonly type: 'EndRun'
  readonly state: EndState
  readonly now: Instant
}

export type RunCommand = StartRun | LogMetrics | EndRun
