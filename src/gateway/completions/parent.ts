import type { IncomingHttpHeaders } from 'node:http'
import { callStream } from '../../domain/calls/events.js'
import { id } from '../../kernel/ids.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { invalid } from '../../application/failure.js'

/** Where in a trace a completion belongs; null for what is not said. */
export interface Placed {
  readonly parentId: string | null
  readonly traceId: string | null
}

/**
 * The place that a request asks for: `Tallytree-Parent-Call` names a call of the same project, and `Tallytree-Trace` the
 * trace, for a parent whose start may not have come yet; without either the W3C header `traceparent` counts. Automatic
 * tracing names spans there that never come, so its parent has to be a call of the project.
 *
 * @throws Failure for an id that no call can have
 */
export const placedBy = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  project: string,
  headers: IncomingHttpHeaders,
): Promise<Placed> => {
  const parentId = idIn(headers, 'Tallytree-Parent-Call')
  const traceId = idIn(headers, 'Tallytree-Trace')
  if (parentId !== null || traceId !== null) return { parentId, traceId }
  const placed = traceparentIn(headers['traceparent'])
  if (placed.parentId === null) return placed
  for await (const _ of eventStore.readStream(callStream(project, placed.parentId), { limit: 1 }))
    return placed
  return { ...placed, parentId: null }
}

const idIn = (headers: IncomingHttpHeaders, name: string): string | null => {
  const header = headers[name.toLowerCase()]
  if (header === undefined || header === '') return null
  // Headers are bytes; those of an id are UTF-8.
  const text = Buffer.from(String(header), 'latin1').toString('utf8')
  if (id.is(text)) return text
  throw invalid([
    {
      loc: ['header', name],
      type: 'value_error',
      msg: 'Input should be an id of 1 to 256 bytes without control characters',
    },
  ])
}

const NOWHERE: Placed = { parentId: null, traceId: null }
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/

/** One that is not understood is as good as none (W3C Trace Context, 3.2). */
const traceparentIn = (header: string | string[] | undefined): Placed => {
  const [, version, traceId = '', parentId = '', more] = TRACEPARENT.exec(String(header ?? '').trim()) ?? []
  const isKnown = version !== undefined && version !== 'ff' && !(version === '00' && more !== undefined)
  return isKnown && /[^0]/.test(traceId) && /[^0]/.test(parentId) ? { parentId, traceId } : NOWHERE
}
