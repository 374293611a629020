import {
  callDecider,
  type CallState,
  type CallCommand,
  callStream,
  type CallEvent,
} from '../../domain/calls/call.js'
import { END_PAYLOAD, START_PAYLOAD } from '../../domain/calls/payload.js'
import type { Refusal } from '../../kernel/decider.js'
import type { Cause } from '../../kernel/event.js'
import { execute, load, type LoadedState } from '../../kernel/execute.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { EventTooLarge, StreamUnreadable } from '../../kernel/ports/event-store-errors.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { spill } from '../../kernel/spill/spill.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import type { CallWrite, EndWrite, StartWrite } from './record.js'

type WritingPorts = Pick<Ports, 'eventStore' | 'blobs' | 'ids' | 'sha256'>

/** The result of one write: the call's id and trace, and the refusal if there is one. */
export interface WriteResult {
  readonly id: string
  readonly trace_id: string
  readonly refused?: Refusal | 'too-large'
}

export interface WriteResults {
  /** In the order of the writes. */
  readonly written: readonly WriteResult[]
  /** The position at which all of it is readable, including what earlier requests wrote. */
  readonly position: Position | undefined
  /** The state of the call after the write of a single start or end, for the next write. */
  readonly known?: KnownCall
}

/** The state of a call that this process wrote last. */
export type KnownCall = LoadedState<CallState>

/**
 * Records starts and ends, those of each call in order and in one append. Calls are independent of each other. Every
 * write gets a result, also repeated, conflicting and oversized ones.
 *
 * A single end is decided on the `known` state of its call, which saves reading the start. If the call has changed since,
 * the append conflicts and the stream is read.
 */
export const writeCalls =
  (ports: WritingPorts) =>
  async (writes: readonly CallWrite[], cause: Cause, known?: KnownCall): Promise<WriteResults> => {
    const traces = writes.some(inheritsTrace) ? await parentTraces(ports, writes) : []
    const pending = await startEach([...writes.entries()], ([index, write]) =>
      commandOf(ports, write, traces[index] ?? null, cause),
    )
    const commands = pending.every(isAtHand) ? pending : await Promise.all(pending.map(settled))
    const [only, ...others] = commands
    if (only !== undefined && others.length === 0) return writeAlone(ports, only, cause, known)
    const written = new Array<WriteResult>(writes.length)
    let position: Position | undefined
    const executed = await startEach(byStream(commands), async ([stream, group]) => {
      const result = await executeGroup(ports, stream, group, cause).catch(refuseUnreadable(group))
      if (result.position !== undefined && (position === undefined || result.position > position))
        position = result.position
      for (const [index, answer] of result.answers) written[index] = answer
    })
    await Promise.all(executed)
    return { written, position }
  }

/** Starts work on many items, which others need not wait for. The caller awaits what was started. */
const startEach = async <Item, Work>(items: Iterable<Item>, start: (item: Item) => Work): Promise<Work[]> => {
  const pause = yielding()
  const started: Work[] = []
  for (const item of items) {
    const work = start(item)
    // It may fail before the caller awaits it.
    if (work instanceof Promise) work.catch(() => undefined)
    started.push(work)
    // Also without a pause, so that what was started goes on meanwhile.
    await pause()
  }
  return started
}

/** A fast path for the most frequent request, a single start or end. */
const writeAlone = async (
  ports: WritingPorts,
  { stream, id, command }: StreamCommand,
  cause: Cause,
  known?: KnownCall,
): Promise<WriteResults> => {
  const {
    answers,
    position,
    known: after,
  } = await executeGroup(ports, stream, [{ index: 0, id, command }], cause, known)
  return { written: answers.map(([, answer]) => answer), position, known: after }
}

interface IndexedCommand {
  readonly index: number
  readonly command: CallCommand | TooLarge
  readonly id: string
}

interface TooLarge {
  readonly type: 'TooLarge'
}

interface StreamCommand extends Omit<IndexedCommand, 'index'> {
  readonly stream: string
}

/** Synchronous, unless parts of a large call must be stored first. */
const commandOf = (
  ports: WritingPorts,
  write: CallWrite,
  parentTrace: string | null,
  { actor }: Cause,
): StreamCommand | Promise<StreamCommand> => {
  if (write.type === 'StartCall') {
    const known = write.inputsText === undefined ? {} : { inputs: write.inputsText }
    const start = spill(ports)(write.start, START_PAYLOAD, null, known)
    return start instanceof Promise
      ? start.then((spilled) => starting(write, spilled, parentTrace, actor)).catch(orTooLarge(write.start))
      : starting(write, start, parentTrace, actor)
  }
  const end = spill(ports)(write.end, END_PAYLOAD, write.usage)
  return end instanceof Promise
    ? end.then((spilled) => ending(write, spilled)).catch(orTooLarge(write.end))
    : ending(write, end)
}

const starting = (
  { type, source, isRunning }: StartWrite,
  start: StartWrite['start'],
  parentTrace: string | null,
  userId: string,
): StreamCommand => ({
  stream: callStream(start.project_id, start.id),
  id: start.id,
  command: { type, source, start, parentTrace, userId, ...(isRunning === true ? { isRunning } : {}) },
})

const ending = ({ type, usage }: EndWrite, end: EndWrite['end']): StreamCommand => ({
  stream: callStream(end.project_id, end.id),
  id: end.id,
  command: { type, usage, end },
})

const orTooLarge =
  ({ project_id, id }: { readonly project_id: string; readonly id: string }) =>
  (error: unknown): StreamCommand => {
    if (!(error instanceof EventTooLarge)) throw error
    return { stream: callStream(project_id, id), id, command: { type: 'TooLarge' } }
  }

const settled = async (commanded: StreamCommand | Promise<StreamCommand>): Promise<StreamCommand> => commanded

const isAtHand = (commanded: StreamCommand | Promise<StreamCommand>): commanded is StreamCommand =>
  !(commanded instanceof Promise)

const byStream = (commands: readonly StreamCommand[]): Map<string, IndexedCommand[]> => {
  const groups = new Map<string, IndexedCommand[]>()
  for (const [index, { stream, id, command }] of commands.entries()) {
    const group = groups.get(stream)
    if (group === undefined) groups.set(stream, [{ index, id, command }])
    else group.push({ index, id, command })
  }
  return groups
}

const executeGroup = async (
  ports: WritingPorts,
  stream: string,
  group: readonly IndexedCommand[],
  cause: Cause,
  known?: KnownCall,
) => {
  const commands: CallCommand[] = []
  const places: (number | undefined)[] = []
  for (const { command } of group)
    places.push(command.type === 'TooLarge' ? undefined : commands.push(command) - 1)
  const {
    state,
    refusals,
    readableAt: position,
    expected,
  } = await execute(ports)(callDecider, stream, commands, cause, {
    assumeNew: commands[0]?.type === 'StartCall',
    // The elements of a batch are independent.
    splitAppends: true,
    ...(known === undefined ? {} : { reload: knownFirst(ports, stream, known) }),
  })
  const answers = group.map((numbered, at): [number, WriteResult] => {
    const answer = { id: numbered.id, trace_id: traceOf(state, numbered) }
    const place = places[at]
    const refused = place === undefined ? 'too-large' : refusals.get(place)
    return [numbered.index, refused === undefined ? answer : { ...answer, refused }]
  })
  return { answers, position, known: { state, expected, position } }
}

/** The other calls of a batch are written. */
const refuseUnreadable =
  (group: readonly IndexedCommand[]) =>
  (error: unknown): Pick<Awaited<ReturnType<typeof executeGroup>>, 'answers' | 'position'> => {
    if (!(error instanceof StreamUnreadable)) throw error
    const refused = { kind: 'conflict', reason: error.message } as const
    return {
      answers: group.map(({ index, id }) => [index, { id, trace_id: id, refused }]),
      position: undefined,
    }
  }

/** The known state, and after a conflict the stored one. */
const knownFirst = (ports: WritingPorts, stream: string, known: KnownCall) => {
  let isFirst = true
  return async (): Promise<KnownCall> => {
    if (!isFirst) return load(ports, callDecider, stream)
    isFirst = false
    return known
  }
}

/** The state without what an end does not depend on: inputs may be large, and are not held until then. */
export const withoutPayload = ({ state, ...at }: KnownCall): KnownCall => ({
  ...at,
  state: state.start === null ? state : { ...state, start: { ...state.start, inputs: {}, attributes: {} } },
})

/** The trace of the recorded start. After the deletion of the call, the trace that the start would have had. */
const traceOf = (state: CallState, { command, id }: IndexedCommand): string =>
  state.start?.trace_id ??
  (command.type === 'StartCall' ? (command.start.trace_id ?? command.parentTrace ?? id) : id)

/** Whether a start takes its trace from its parent. */
const inheritsTrace = (write: CallWrite): boolean =>
  write.type === 'StartCall' && write.start.trace_id === null && write.start.parent_id !== null

/**
 * Finds the parent's trace for each start with a parent and without a trace, in the parent's stream or earlier in the
 * same request. Each parent is read once.
 */
const parentTraces = async (
  ports: Pick<Ports, 'eventStore'>,
  writes: readonly CallWrite[],
): Promise<readonly (string | null)[]> => {
  const found = new Array<string | null>(writes.length).fill(null)
  const stored = new Map<string, string | null>()
  const inRequest = new Map<string, string>()
  for (const [index, write] of writes.entries()) {
    if (write.type !== 'StartCall') continue
    const { project_id, id, trace_id, parent_id } = write.start
    if (trace_id === null && parent_id !== null) {
      const parent = callStream(project_id, parent_id)
      let known = stored.get(parent)
      if (known === undefined) stored.set(parent, (known = await storedTrace(ports, parent)))
      found[index] = known ?? inRequest.get(parent) ?? null
    }
    const stream = callStream(project_id, id)
    if (!inRequest.has(stream)) inRequest.set(stream, trace_id ?? found[index] ?? id)
  }
  return found
}

/** The start is near the beginning of a stream. */
const storedTrace = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  stream: string,
): Promise<string | null> => {
  for await (const recorded of eventStore.readStream(stream)) {
    const event = recorded as unknown as CallEvent
    if (event.type === 'CallStarted') return event.data.trace_id
  }
  return null
}
