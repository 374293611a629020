import * as E from 'fp-ts/lib/Either.js'
import { durationMs } from '../../../calls/duration.js'
import { callStream } from '../../../calls/call.js'
import { reportedUsage, totalTokens, type ModelUsage } from '../../../calls/usage/reported.js'
import { instant } from '../../../../kernel/codec/instant.js'
import { entityOf, projectId } from '../../../../kernel/ids.js'
import { isJsonObject, type Json } from '../../../../kernel/json/json.js'
import type { RecordedEvent } from '../../../../kernel/ports/event-store.js'
import { envelopeOf } from './decode-data.js'
import type { CallTrigger } from './trigger.js'

/**
 * The trigger of a finished call: its end, or its start if that arrives after the end, since both are needed for the
 * duration. Calls are most of a log, so only the needed fields are decoded, not the payloads.
 */
export const callTrigger = (event: RecordedEvent): CallTrigger | undefined => {
  const { type, data } = event
  if (type !== 'CallEnded' && type !== 'CallStarted') return undefined
  const other = data[type === 'CallEnded' ? 'start' : 'end']
  if (type === 'CallStarted' && !isJsonObject(other)) return undefined
  const { project_id, id } = data
  if (!projectId.is(project_id) || typeof id !== 'string') return undefined
  if (callStream(project_id, id) !== event.stream) return undefined
  const [start, end] = type === 'CallEnded' ? [other, data] : [data, other]
  const ended = type === 'CallEnded'
  const [started, endedAt] = [field(start, 'started_at'), field(end, 'ended_at')]
  const models = modelsOf(field(end, 'usage'))
  const failed = ended && typeof data['exception'] === 'string' && data['exception'] !== ''
  return {
    kind: 'call',
    ...envelopeOf(event),
    team: entityOf(project_id),
    types: ended ? ['CALL_FAILED', 'CALL_USAGE_THRESHOLD'] : ['CALL_USAGE_THRESHOLD'],
    project_id,
    call_id: id,
    failed,
    total_tokens: ended ? (models?.reduce((sum, model) => sum + totalTokens(model), 0) ?? null) : null,
    latency_ms: instant.is(started) && instant.is(endedAt) ? durationMs(started, endedAt) : null,
    charged: models !== null && instant.is(started) ? { project_id, started_at: started, models } : null,
  }
}

const field = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) ? value[key] : undefined

const modelsOf = (usage: Json | undefined): readonly ModelUsage[] | null => {
  const decoded = reportedUsage.decode(usage)
  return E.isRight(decoded) ? decoded.right.models : null
}
