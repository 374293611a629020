import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'

/** What budgets have counted for a completion of the gateway. */
export interface CountedCost {
  readonly amount: string
  /** The usage was never learned: the reservation counts. */
  readonly isUnknown: boolean
}

const ERASED = 'erased'

/** The day of a time. */
export const dayOf = (time: Json | undefined): string =>
  `${typeof time === 'string' ? time.slice(0, 10) : '1970-01-01'}T00:00:00.000000Z`

/**
 * What an erasure of figures leaves of the data of a call's event: its ids and the day. It is valid for the codec of the event.
 * Of a completion of the gateway, what budgets count stays, because spent money must not come back.
 */
export const callWithoutFigures = (
  type: string,
  data: JsonObject,
  cost?: CountedCost,
): JsonObject | undefined => {
  const { project_id = null, id = null } = data
  const left = { project_id, id, erased: true, figures_erased: true }
  switch (type) {
    case 'CallStarted': {
      const attributes = { tallytree: { ...counting(data, cost), erased: true } }
      const { trace_id = id } = data
      return {
        ...{ ...left, ...startOn(data), trace_id, trace_from: 'call', attributes },
        ...{ source: null, wb_user_id: null, end: null },
      }
    }
    case 'CallEnded': {
      const charged = cost === undefined || cost.isUnknown ? {} : { charged: cost.amount }
      return {
        ...{ ...left, ...endOn(data), summary: { tallytree: { ...charged, erased: true } } },
        ...{ usage: { status_total: null, models: [], response_id: null }, start: null },
      }
    }
    case 'CallRenamed':
      return { ...left, display_name: null, started_at: null }
    case 'CallDeleted':
      return { ...left, trace_id: null, started_at: null }
    case 'ConflictingCallStartReported':
      return { ...left, start: { project_id, id, trace_id: null, ...startOn(objectIn(data['start'])) } }
    case 'ConflictingCallEndReported':
      return { ...left, end: { project_id, id, ...endOn(objectIn(data['end'])) } }
    default:
      return undefined
  }
}

const startOn = ({ started_at }: JsonObject): JsonObject => ({
  ...{
    op_name: ERASED,
    started_at: dayOf(started_at),
    attributes: {},
    inputs: {},
    otel_dump: null,
    spilled: {},
  },
  ...{
    display_name: null,
    parent_id: null,
    thread_id: null,
    turn_id: null,
    wb_run_id: null,
    wb_run_step: null,
  },
})

const endOn = ({ ended_at }: JsonObject): JsonObject => ({
  ...{
    ended_at: dayOf(ended_at),
    output: null,
    summary: {},
    exception: null,
    wb_run_step_end: null,
    spilled: {},
  },
})

/** What assigns a completion to its budgets. */
const counting = (
  { attributes, started_at = null }: JsonObject,
  cost: CountedCost | undefined,
): JsonObject => {
  if (cost === undefined) return {}
  const { kind, instance, key_id, admitted_at = started_at } = objectIn(objectIn(attributes)['tallytree'])
  const admitted = dayOf(admitted_at)
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(instance === undefined ? {} : { instance }),
    ...(key_id === undefined ? {} : { key_id }),
    ...{ admitted_at: admitted, deadline_at: admitted, reserved: cost.amount, price: null },
  }
}

const objectIn = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})
