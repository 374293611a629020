import { reportedUsageOf } from '../../domain/call/usage.js'
import { instantOf } from '../../domain/codec/instant.js'
import { OP_NAME } from '../../domain/completion/request.js'
import type { Metered } from '../../domain/completion/usage.js'
import { summaryUsage } from '../../domain/completion/usage.js'
import type { Cause } from '../../domain/event.js'
import type { JsonObject } from '../../domain/json/json.js'
import type { Position } from '../../domain/ports/event-store.js'
import { Failure } from '../failure.js'
import type { Principal } from '../principal.js'
import { record } from '../tracing/tracing.js'
import type { Inference } from './inference.js'

export interface Beginning {
  readonly id: string
  readonly project: string
  readonly parentId: string | null
  readonly traceId: string | null
  readonly inputs: JsonObject
  /** What of it is this service's own: upstream, model, reserved maximum. */
  readonly attributes: JsonObject
}

export interface Ending {
  readonly output: JsonObject | null
  readonly metered: Metered
  /** Null where all went well. */
  readonly exception: string | null
  /** What of it is this service's own: times, tries. */
  readonly said: JsonObject
}

/** A completion as it stands in the log: it began, and ends once. */
export interface Recorded {
  readonly position: Position | undefined
  readonly end: (ending: Ending) => Promise<Position | undefined>
}

/** Records that a completion begins; nothing is asked of an upstream before this is durable. */
export const begin = async (
  inference: Inference,
  { id, project, parentId, traceId, inputs, attributes }: Beginning,
  publicModel: string,
  principal: Principal,
  requestCause: Cause,
): Promise<Recorded> => {
  const cause: Cause = { ...requestCause, part: 'inference' }
  const { ports } = inference
  const { written, position } = await record(inference)(
    [
      {
        type: 'StartCall',
        source: null,
        start: {
          project_id: project,
          id,
          op_name: OP_NAME,
          display_name: null,
          trace_id: traceId,
          parent_id: parentId,
          thread_id: null,
          turn_id: null,
          started_at: instantOf(ports.clock.now()),
          attributes: { tallytree: attributes },
          inputs,
          otel_dump: null,
          wb_run_id: null,
          wb_run_step: null,
          spilled: {},
        },
      },
    ],
    principal,
    cause,
  )
  if (written[0]?.refused !== undefined)
    throw new Failure('too-large', 'The request is too large for one event, even without its messages.')
  return {
    position,
    end: async ({ output, metered, exception, said }) => {
      const summary: JsonObject = {
        ...summaryUsage(publicModel, metered.usage),
        tallytree: { metering: metered.metering, ...said },
      }
      const ended = await record(inference)(
        [
          {
            type: 'EndCall',
            usage: reportedUsageOf(summary),
            end: {
              project_id: project,
              id,
              ended_at: instantOf(ports.clock.now()),
              output,
              summary,
              exception,
              wb_run_step_end: null,
              spilled: {},
            },
          },
        ],
        principal,
        cause,
      )
      return ended.position
    },
  }
}
