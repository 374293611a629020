import { callStream, type CallEvent } from '../../domain/call/events.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { CallWrite } from './call-writes.js'

/** Whether a start takes its trace from its parent. */
export const inheritsTrace = (write: CallWrite): boolean =>
  write.type === 'StartCall' && write.start.trace_id === null && write.start.parent_id !== null

/**
 * Finds the parent's trace for each start with a parent and without a trace, in the parent's stream or earlier in the
 * same request. Each parent is read once.
 */
export const parentTraces = async (
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
