import type { Ports } from '../../kernel/ports/ports.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { OP_NAME } from '../answer/request.js'
import { summaryUsage, unknown, type Metered } from '../answer/usage.js'
import type { Cause } from '../../kernel/event.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { wellFormed } from '../../kernel/json/well-formed.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { AppendOutcomeUnknown } from '../../kernel/ports/event-store-errors.js'
import type { RecordLevel } from '../../domain/projects/events.js'
import { Failure } from '../../application/failure.js'
import type { Principal } from '../../application/principal.js'
import { endCall, startCall } from '../../application/calls/record.js'
import { authorizeWrite } from '../../application/access/project-access.js'
import { writeCalls } from '../../application/calls/write-calls.js'
import type { Admission } from '../limits/admission.js'
import { giveUp, type GivenUp } from './giving-up.js'
import type { GatewayServices } from '../gateway.js'
import { clientGone } from './under-way.js'

export interface Beginning {
  readonly id: string
  readonly project: string
  readonly parentId: string | null
  readonly traceId: string | null
  readonly level: RecordLevel
  readonly inputs: JsonObject
  /** What of it is this service's own: upstream, model, reserved maximum. */
  readonly attributes: JsonObject
}

export interface Ending {
  readonly output: JsonObject | null
  readonly metered: Metered
  /** Null where all went well. */
  readonly failure: Failure | null
  /** What of it is this service's own: times, tries. */
  readonly said: JsonObject
}

/** A completion as it stands in the log: it began, and ends once; the first end counts. */
export interface Recorded {
  readonly position: Position | undefined
  /** Whether its answer is recorded too. */
  readonly keepsContent: boolean
  /** Never fails: what cannot be written now is written later, and has no position yet. */
  readonly end: (ending: Ending) => Promise<Position | undefined>
}

/** Records that a completion begins; nothing is asked of an upstream before this is durable. */
export const begin = async (
  services: Pick<GatewayServices, keyof Ports | 'access' | 'reading' | 'gateway'>,
  { id, project, parentId, traceId, level, inputs, attributes }: Beginning,
  publicModel: string,
  principal: Principal,
  { correlationId, causationId, actor }: Cause,
  admission: Pick<Admission, 'cancel' | 'settle'>,
): Promise<Recorded> => {
  const cause: Cause = { correlationId, causationId, actor, part: 'inference' }
  const { reading } = services
  const { ends } = services.gateway
  const [startedAt, began] = [services.clock.now(), performance.now()]
  const started = async () => {
    ends.requireRoom()
    await authorizeWrite(services.access, principal, project, cause)
    // Not paced: a client waits for this completion, and a read side that lags behind traces must not delay it.
    const { written, position } = await writeCalls(services)(
      [
        startCall(
          id,
          {
            project_id: project,
            op_name: OP_NAME,
            trace_id: traceId,
            parent_id: parentId,
            started_at: instantOf(startedAt),
            attributes: { tallytree: attributes },
            inputs: level === 'all' ? inputs : {},
          },
          'gateway',
        ),
      ],
      cause,
    )
    if (written[0]?.refused !== undefined)
      throw new Failure(
        'too-large',
        'The request is too large to record in one event, even without its messages.',
      )
    return position
  }
  const position = await started().catch((error: unknown) => {
    // It may have begun all the same, without an upstream being asked: its reservation is released once that is known.
    if (error instanceof AppendOutcomeUnknown)
      void ends.write(async () => {
        const end = await giveUp(services, unasked(id, project, startedAt))
        if (end === undefined) admission.cancel()
        else admission.settle(unknown, { owed: false })
        return end
      })
    else admission.cancel()
    throw error
  })
  return {
    position: reading.ackPosition(project, position),
    keepsContent: level === 'all',
    end: async ({ output, metered, failure, said }) => {
      // As long after its start as it took, also where the clock was set meanwhile.
      const ended_at = instantOf(new Date(startedAt.getTime() + performance.now() - began))
      const isCancelled = failure === clientGone
      const summary: JsonObject = {
        tallytree: { metering: metered.metering, ...said, ...(isCancelled ? { cancelled: true } : {}) },
        ...summaryUsage(publicModel, metered.usage),
      }
      const write = async (output: JsonObject | null) => {
        const end = endCall({
          project_id: project,
          id,
          ended_at,
          output: wellFormed(output),
          summary,
          exception: failure === null || isCancelled ? null : exceptionOf(failure, level),
          spilled: {},
        })
        const { written, position } = await writeCalls(services)([end], cause)
        return { isTooLarge: written[0]?.refused === 'too-large', position }
      }
      // Who might write when it began has what it used counted, whatever became of the key meanwhile.
      const written = await ends.write(async () => {
        const first = await write(level === 'all' ? output : null)
        const { position } = first.isTooLarge ? await write(null) : first
        return reading.ackPosition(project, position)
      })
      admission.settle(metered, said)
      return written
    },
  }
}

/** It may have begun all the same; nobody was asked, so that nobody is owed anything. */
const unasked = (id: string, project: string, endedAt: Date): GivenUp => ({
  id,
  project,
  endedAt,
  exception: 'No request was sent to an upstream: the event store timed out.',
  said: { owed: false },
})

/** The same call, of whose ends the first counts, whoever else is to hear of it. */
export const endingOnce = (call: Recorded): Recorded => {
  let hasEnded = false
  return {
    ...call,
    end: async (ending) => {
      if (hasEnded) return undefined
      hasEnded = true
      return call.end(ending)
    },
  }
}

const exceptionOf = ({ reason, details }: Failure, level: RecordLevel): string =>
  (level === 'all' ? reason : (details.reasonWithoutQuote ?? reason)).toWellFormed()
