import { randomUUID } from 'node:crypto'
import {
  type CallCommand,
  type DeleteCall,
  type EndCall,
  type RenameCall,
  type StartCall,
  callDecider,
  type CallState,
  type CallEvent,
} from '../../../../src/domain/calls/call.js'
import type { CallEnd, CallStart } from '../../../../src/domain/calls/content.js'
import { reportedUsageOf } from '../../../../src/domain/calls/usage/reported.js'
import { parseInstant } from '../../../../src/kernel/codec/instant.js'
import type { Refusal } from '../../../../src/kernel/decider.js'

const PROJECT = 'team/project'

export const arbitraryCallId = (): string => `call-${randomUUID()}`

export const at = (text: string) => parseInstant(text)!

const aStart = (id: string): CallStart => ({
  project_id: PROJECT,
  id,
  op_name: 'answer',
  display_name: null,
  trace_id: null,
  parent_id: null,
  thread_id: null,
  turn_id: null,
  started_at: at('2026-01-01T00:00:00Z'),
  attributes: {},
  inputs: { question: 'why?' },
  otel_dump: null,
  wb_run_id: null,
  wb_run_step: null,
  spilled: {},
})

const anEnd = (id: string): CallEnd => ({
  project_id: PROJECT,
  id,
  ended_at: at('2026-01-01T00:00:01Z'),
  output: 'because',
  summary: { usage: { m: { requests: 1 } } },
  exception: null,
  wb_run_step_end: null,
  spilled: {},
})

export const startCall = (
  id: string,
  start: Partial<CallStart> = {},
  more: Partial<Omit<StartCall, 'start'>> = {},
): StartCall => ({
  type: 'StartCall',
  start: { ...aStart(id), ...start },
  parentTrace: null,
  source: null,
  userId: 'alice',
  ...more,
})

export const endCall = (id: string, end: Partial<CallEnd> = {}): EndCall => {
  const whole = { ...anEnd(id), ...end }
  return { type: 'EndCall', end: whole, usage: reportedUsageOf(whole.summary ?? {}) }
}

export const renameCall = (id: string, display_name: string | null): RenameCall => ({
  type: 'RenameCall',
  project_id: PROJECT,
  id,
  display_name,
})

export const deleteCall = (id: string): DeleteCall => ({ type: 'DeleteCall', project_id: PROJECT, id })

export interface Run {
  readonly state: CallState
  readonly events: readonly CallEvent[]
  /** Of each command, in their order. */
  readonly refusals: readonly (Refusal | undefined)[]
}

/** What becomes of commands, one after another, on a call nobody knows. */
export const given = (...commands: readonly CallCommand[]): Run => {
  let state = callDecider.initialState()
  const events: CallEvent[] = []
  const refusals: (Refusal | undefined)[] = []
  for (const command of commands) {
    const decision = callDecider.decide(state, command)
    events.push(...decision.events)
    refusals.push(decision.refused)
    state = decision.events.reduce(callDecider.evolve, state)
  }
  return { state, events, refusals }
}

/** What the last of the commands makes of what the ones before it left. */
export const lastOf = (...commands: readonly CallCommand[]) => {
  const before = given(...commands.slice(0, -1))
  return callDecider.decide(before.state, commands.at(-1)!)
}
