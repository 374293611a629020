import type { Ports } from '../../kernel/ports/ports.js'
import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import type { RequestText } from '../answer/request-text.js'
import { summaryUsage, unknown, type Metered } from '../answer/usage.js'
import type { Cause } from '../../kernel/event.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { wellFormed } from '../../kernel/json/well-formed.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { AppendOutcomeUnknown } from '../../kernel/ports/event-store-errors.js'
import type { RecordLevel } from '../../domain/projects/project.js'
import { Failure } from '../../application/failure.js'
import type { Principal } from '../../application/principal.js'
import { endCall, startCall } from '../../application/calls/record.js'
import { authorizeWrite } from '../../application/access/project-access.js'
import { withoutPayload, writeCalls, type KnownCall } from '../../application/calls/write-calls.js'
import type { Admission } from '../limits/admission.js'
import { endAbandonedCall } from './abandoned-call.js'
import type { GatewayServices } from '../gateway.js'
import { clientGone } from './in-flight.js'
import type { TraceContext } from './request-context.js'

interface CallStart extends TraceContext {
  readonly id: string
  readonly project: string
  readonly level: RecordLevel
  /** The request as received, and as JSON. */
  readonly given: JsonObject
  readonly text: RequestText
  readonly model: string
  readonly opName: string
  readonly threadId: string | null
  readonly principal: Principal
  readonly cause: Cause
  readonly permit: Pick<Admission, 'attributes' | 'cancel' | 'settle'>
}

type RecordServices = Pick<GatewayServices, keyof Ports | 'access' | 'reading' | 'gateway'>

export interface CallEnding {
  readonly output: JsonObject | null
  readonly metered: Metered
  /** Null for a complete answer. */
  readonly failure: Failure | null
  /** Added to `summary.tallytree`. */
  readonly summary?: JsonObject
  /** Of an answer of the cache, in place of usage. */
  readonly saved?: JsonObject
}

/** The call of a completion whose start is in the event log. */
export interface CallRecord {
  readonly id: string
  readonly project: string
  readonly position: Position | undefined
  readonly recordsContent: boolean
  /** By the clock of `performance`, in milliseconds. */
  readonly startedAt: number
  /**
   * Ends the call and settles the permit. Only the first ending counts. Never rejects; resolves without a position if the
   * append fails, which is then retried in the background.
   */
  readonly finish: (ending: CallEnding) => Promise<Position | undefined>
}

/** Appends the start, durably. Cancels the permit if that fails. */
export const recordStart = async (services: RecordServices, start: CallStart): Promise<CallRecord> => {
  const { id, project, level, model, permit } = start
  const { correlationId, causationId, actor } = start.cause
  const cause: Cause = { correlationId, causationId, actor, part: 'inference' }
  const { reading, gateway } = services
  const [clockStart, startedAt] = [services.clock.now(), performance.now()]
  const { position, known } = await appendStart(services, start, cause, clockStart).catch(
    (error: unknown) => {
      if (error instanceof AppendOutcomeUnknown) endUnforwarded(services, { id, project, permit }, clockStart)
      else permit.cancel()
      throw error
    },
  )

  const appendEnd = async ({ output, metered, failure, summary, saved }: CallEnding, ended_at: Instant) => {
    const isCancelled = failure === clientGone
    const own = { metering: metered.metering, ...summary, ...(isCancelled ? { cancelled: true } : {}) }
    const end = endCall({
      project_id: project,
      id,
      ended_at,
      output: wellFormed(output),
      summary: {
        tallytree: own,
        ...(saved === undefined ? summaryUsage(model, metered.usage) : { usage: { [model]: saved } }),
      },
      exception: failure === null || isCancelled ? null : exceptionOf(failure, level),
      spilled: {},
    })
    // No access check: usage counts even if the key was revoked meanwhile.
    const { written, position } = await writeCalls(services)([end], cause, known)
    return { isTooLarge: written[0]?.refused === 'too-large', position }
  }

  let hasEnded = false
  return {
    id,
    project,
    position: reading.ackPosition(project, position),
    recordsContent: level === 'all',
    startedAt,
    finish: async (ending) => {
      if (hasEnded) return undefined
      hasEnded = true
      // Monotonic duration: a clock adjustment must not put ended_at before started_at.
      const durationMs = performance.now() - startedAt
      const endedAt = instantOf(new Date(clockStart.getTime() + durationMs))
      const summary = { latency_ms: Math.round(durationMs), ...ending.summary }
      const output = level === 'all' ? ending.output : null
      const appended = await gateway.callEnds.write(async () => {
        const first = await appendEnd({ ...ending, summary, output }, endedAt)
        const { position } = first.isTooLarge
          ? await appendEnd({ ...ending, summary, output: null }, endedAt)
          : first
        return reading.ackPosition(project, position)
      })
      permit.settle(ending.metered, summary)
      return appended
    },
  }
}

/** A function of its own: the request, which may be large, is not held until the call ends. */
const appendStart = async (
  services: RecordServices,
  {
    id,
    project,
    parentId,
    traceId,
    level,
    given,
    text,
    model,
    opName,
    threadId,
    principal,
    permit,
  }: CallStart,
  cause: Cause,
  startedAt: Date,
): Promise<{ readonly position: Position | undefined; readonly known: KnownCall | undefined }> => {
  services.gateway.callEnds.rejectIfBacklogFull()
  await authorizeWrite(services.access, principal, project, cause)
  const start = startCall(
    id,
    {
      project_id: project,
      op_name: opName,
      trace_id: traceId,
      parent_id: parentId,
      thread_id: threadId,
      turn_id: threadId === null ? null : id,
      started_at: instantOf(startedAt),
      attributes: { tallytree: { model, ...permit.attributes } },
      inputs: level === 'all' ? given : {},
    },
    'gateway',
  )
  const write = level === 'all' ? { ...start, inputsText: text.whole } : start
  // Not delayed while reads lag behind trace ingest: a client waits for this completion.
  const { written, position, known } = await writeCalls(services)([write], cause)
  if (written[0]?.refused !== undefined)
    throw new Failure(
      'too-large',
      'The request is too large to record in one event, even without its messages.',
    )
  return { position, known: known && withoutPayload(known) }
}

/** The start may be in the log although its append timed out. No request was sent, so nothing is charged. */
const endUnforwarded = (
  services: Pick<GatewayServices, keyof Ports | 'gateway'>,
  { id, project, permit }: Pick<CallStart, 'id' | 'project' | 'permit'>,
  endedAt: Date,
): void =>
  void services.gateway.callEnds.write(async () => {
    const position = await endAbandonedCall(services, {
      project,
      id,
      endedAt,
      exception: 'No request was sent to an upstream: the event store timed out.',
      summary: { owed: false },
    })
    if (position === undefined) permit.cancel()
    else permit.settle(unknown, { owed: false })
    return position
  })

const exceptionOf = ({ reason, details }: Failure, level: RecordLevel): string =>
  (level === 'all' ? reason : (details.reasonWithoutQuote ?? reason)).toWellFormed()
