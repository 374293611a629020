import { nothing, refused, type Decision } from '../../kernel/decider.js'
import { jsonEqual } from '../../kernel/json/equal.js'
import type { LogHistory, LogMetrics } from './commands.js'
import type { HistoryLogged, RunEvent } from './events.js'
import { newParts, rangeOf, type WrittenLines } from './history.js'
import { newOutput } from './output.js'
import { endEvent, noSuchRun, ofRun, type OfRun, type RunState } from './state.js'

/** A repeat of acknowledged metrics is accepted even after the run has ended. */
export const logMetrics = (
  { started, ended, steps }: RunState,
  { metrics, step, evenAfterEnd }: LogMetrics,
): Decision<RunEvent> => {
  if (started === null) return noSuchRun
  const known = step === null ? undefined : steps.get(step)
  if (known !== undefined && jsonEqual(known, metrics)) return nothing
  if (ended !== null && evenAfterEnd !== true)
    return refused('conflict', `The run has already ended with state ${ended}.`)
  if (known !== undefined)
    return refused('conflict', `Different metrics are already logged for step ${step}.`)
  if (Object.keys(metrics).length === 0) return nothing
  return { events: [{ type: 'MetricsLogged', data: { ...ofRun(started), metrics, step } }] }
}

/**
 * Lines are accepted after the end too: clients do not send refused ones again. A run that was taken for crashed goes on
 * when its program is heard of.
 */
export const logHistory = (state: RunState, command: LogHistory): Decision<RunEvent> => {
  const { started, ended } = state
  if (started === null) return noSuchRun
  const run = ofRun(started)
  const { writer } = command.sent
  const parts = newParts(command.sent, state.logged.history).map((part) => ({ ...part, writer }))
  const summary = command.summary === state.summary ? null : command.summary
  const logged = parts.length === 0 && summary !== null ? [NO_LINES] : parts
  const events: RunEvent[] = logged.map((part, at) =>
    historyEvent(run, part, at === logged.length - 1 ? summary : null),
  )
  for (const file of OUTPUT_FILES) {
    const sent = command.output?.[file]
    if (sent === undefined) continue
    for (const data of newOutput(file, sent, state.logged[file], state.output[file]))
      events.push({ type: 'RunOutputLogged', data: { ...run, ...data } })
  }
  const isAlive = ended === null || ended === 'crashed'
  if (ended === 'crashed') events.push({ type: 'RunResumed', data: { ...run, resumed_at: command.now } })
  if (command.end !== null && isAlive) events.push(endEvent(run, command.end, command.now))
  if (events.length === 0 && command.isQuiet && isAlive)
    events.push({ type: 'RunSeen', data: { ...run, seen_at: command.now } })
  return { events }
}

const OUTPUT_FILES = ['system', 'console'] as const

export const NO_LINES: WrittenLines = { offset: 0, lines: [], writer: null }

export const historyEvent = (
  run: OfRun,
  { offset, lines, writer }: WrittenLines,
  summary: string | null,
): RunEvent => {
  const steps = lines.map(({ step }) => step)
  const [min_step, max_step] = rangeOf(steps) ?? [null, null]
  const [min_time, max_time] = rangeOf(lines.map(({ time }) => time)) ?? [null, null]
  const data: HistoryLogged = {
    ...run,
    offset,
    rows: lines.length,
    min_step,
    max_step,
    writer,
    stepless: steps.filter((step) => step === null).length,
    min_time,
    max_time,
    lines: lines.map(({ text }) => text),
    summary,
    spilled: {},
  }
  return { type: 'HistoryLogged', data }
}
