import { callDecider, type CallState } from '../../domain/call/decider.js'
import type { CallCommand } from '../../domain/call/commands.js'
import { callStream } from '../../domain/call/events.js'
import { END_PAYLOAD, START_PAYLOAD } from '../../domain/call/payload.js'
import { spill } from '../../domain/call/spill.js'
import type { Refusal } from '../../domain/decider.js'
import type { Cause } from '../../domain/event.js'
import { execute, load } from '../../domain/execute.js'
import type { Position } from '../../domain/ports/event-store.js'
import { EventTooLarge } from '../../domain/ports/event-store-errors.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { CallWrite } from './call-writes.js'

export type WritingPorts = Pick<Ports, 'eventStore' | 'blobs' | 'ids' | 'sha256'>

/** What became of one write: the call's id and trace, and why it was not taken, if so. */
export interface Written {
  readonly id: string
  readonly trace_id: string
  readonly refused?: Refusal | 'too-large'
}

export interface AllWritten {
  /** In the order of the writes. */
  readonly written: readonly Written[]
  readonly position: Position | undefined
}

/**
 * Records starts and ends, each call's in the order in which they came as one append; calls are independent of one
 * another. Every write is answered, also one that repeats, conflicts or is too large.
 */
export const writeCalls =
  (ports: WritingPorts) =>
  async (writes: readonly CallWrite[], cause: Cause): Promise<AllWritten> => {
    const traces = await parentTraces(ports, writes)
    const commands = await Promise.all(
      writes.map((write, index) => commandOf(ports, write, traces[index] ?? null, cause)),
    )
    const written = new Array<Written>(writes.length)
    let position: Position | undefined
    await Promise.all(
      [...byStream(commands)].map(async ([stream, group]) => {
        const result = await executeGroup(ports, stream, group, cause)
        if (result.position !== undefined && (position === undefined || result.position > position))
          position = result.position
        for (const [index, answer] of result.answers) written[index] = answer
      }),
    )
    return { written, position }
  }

interface Numbered {
  readonly index: number
  readonly command: CallCommand | TooLarge
  readonly project_id: string
  readonly id: string
}

interface TooLarge {
  readonly type: 'TooLarge'
}

const commandOf = async (
  ports: WritingPorts,
  write: CallWrite,
  parentTrace: string | null,
  { actor }: Cause,
): Promise<Omit<Numbered, 'index'>> => {
  const { project_id, id } = write.type === 'StartCall' ? write.start : write.end
  try {
    if (write.type === 'StartCall') {
      const start = await spill(ports)(write.start, START_PAYLOAD)
      return { project_id, id, command: { ...write, start, parentTrace, userId: actor } }
    }
    const end = await spill(ports)(write.end, END_PAYLOAD, JSON.stringify(write.usage).length * 3)
    return { project_id, id, command: { ...write, end } }
  } catch (error) {
    if (error instanceof EventTooLarge) return { project_id, id, command: { type: 'TooLarge' } }
    throw error
  }
}

const byStream = (commands: readonly Omit<Numbered, 'index'>[]): Map<string, Numbered[]> => {
  const groups = new Map<string, Numbered[]>()
  commands.forEach((numbered, index) => {
    const stream = callStream(numbered.project_id, numbered.id)
    const group = groups.get(stream)
    if (group === undefined) groups.set(stream, [{ ...numbered, index }])
    else group.push({ ...numbered, index })
  })
  return groups
}

const executeGroup = async (
  ports: WritingPorts,
  stream: string,
  group: readonly Numbered[],
  cause: Cause,
) => {
  const fitting = group.filter(({ command }) => command.type !== 'TooLarge')
  const commands = fitting.map(({ command }) => command as CallCommand)
  const { state, refusals, position } = await execute(ports)(callDecider, stream, commands, cause, {
    assumeNew: commands[0]?.type === 'StartCall',
  })
  const answers = group.map((numbered): [number, Written] => {
    const answer = { id: numbered.id, trace_id: traceOf(state, numbered) }
    const refused =
      numbered.command.type === 'TooLarge' ? 'too-large' : refusals.get(fitting.indexOf(numbered))
    return [numbered.index, refused === undefined ? answer : { ...answer, refused }]
  })
  return { answers, position }
}

/** Once a start stands, its trace is the answer; for a start after the call's deletion, what it would have been. */
const traceOf = (state: CallState, { command, id }: Numbered): string =>
  state.start?.trace_id ??
  (command.type === 'StartCall' ? (command.start.trace_id ?? command.parentTrace ?? id) : id)

/**
 * For each start that names a parent and no trace: the parent's trace, if its start is known, from earlier in the same
 * request or from its stream.
 */
const parentTraces = async (
  ports: WritingPorts,
  writes: readonly CallWrite[],
): Promise<(string | null)[]> => {
  const found = new Array<string | null>(writes.length).fill(null)
  const inRequest = new Map<string, string>()
  for (const [index, write] of writes.entries()) {
    if (write.type !== 'StartCall') continue
    const { project_id, id, trace_id, parent_id } = write.start
    if (trace_id === null && parent_id !== null) {
      const parent = callStream(project_id, parent_id)
      const { state } = await load(ports, callDecider, parent)
      found[index] = state.start?.trace_id ?? inRequest.get(parent) ?? null
    }
    const stream = callStream(project_id, id)
    if (!inRequest.has(stream)) inRequest.set(stream, trace_id ?? found[index] ?? id)
  }
  return found
}
