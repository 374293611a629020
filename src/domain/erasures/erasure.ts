import type * as t from 'io-ts'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, json, jsonObject, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { type EventOf, nothing, type Decider, type Decision } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'

const ofErasure = { project_id: projectId, id }

const erasureRequested = open('ErasureRequested', {
  says:
    'The erasure of the content of calls, with `figures` of their figures too, or of a deleted project, was requested. Once it has finished, `query` is erased too, because it may quote ' +
    'content; `erased` then says so.',
  required: { ...ofErasure, requested_at: instant, requested_by: string, reason: string },
  optional: {
    filter: nullable(jsonObject),
    query: nullable(json),
    with_descendants: withDefault(boolean, false),
    except: withDefault(arrayOf(string), []),
    /** All content of a deleted project. */
    whole_project: withDefault(boolean, false),
    figures: withDefault(boolean, false),
    erased: withDefault(boolean, false),
  },
})

const callsSelected = open('CallsSelectedForErasure', {
  says: 'Calls whose content is to be erased. All calls are selected before the first is erased.',
  required: { ...ofErasure, call_ids: arrayOf(string), is_last: boolean },
})

const callsErased = open('CallsErased', {
  says:
    'The receipt for the calls of one `CallsSelectedForErasure`, or for a part of the log of a deleted project, written just ' +
    'before their events are changed. `positions` are ' +
    'the changed events, such as `17-19,23`, and `bytes` the JSON that was removed. `blobs` are deleted unless ' +
    'other events name them.',
  required: {
    ...ofErasure,
    /** Place of the selected calls, from 0. */
    part: wholeNumber,
    calls: wholeNumber,
    events: wholeNumber,
    bytes: wholeNumber,
    positions: string,
    blobs: arrayOf(string),
    /** Events that are damaged, which are left as they are. */
    unreadable: wholeNumber,
  },
})

const totals = { calls: wholeNumber, events: wholeNumber, bytes: wholeNumber, unreadable: wholeNumber }

const erasureFinished = open('ErasureFinished', {
  says: 'The content is erased in the log, the blobs, the read models and the caches. The totals are those of all receipts.',
  required: { ...ofErasure, finished_at: instant, ...totals, blobs_deleted: wholeNumber },
})

export const erasureEvents = {
  ErasureRequested: erasureRequested,
  CallsSelectedForErasure: callsSelected,
  CallsErased: callsErased,
  ErasureFinished: erasureFinished,
}

export type ErasureEvent = EventOf<typeof erasureEvents>
export type ErasureRequested = t.TypeOf<typeof erasureRequested>
/** Requests of earlier releases do not say. */
export const erasesFigures = ({ figures }: Partial<Pick<ErasureRequested, 'figures'>>): boolean =>
  figures === true
export type CallsErased = t.TypeOf<typeof callsErased>
export type ErasureFinished = t.TypeOf<typeof erasureFinished>

export const erasureStream = (projectId: string, id: string): string => `erasure-${projectId}/${id}`

interface OfErasure {
  readonly project_id: string
  readonly id: string
}

export type ErasureCommand =
  | { readonly type: 'RequestErasure'; readonly request: ErasureRequested }
  | ({
      readonly type: 'SelectCalls'
      readonly call_ids: readonly string[]
      readonly is_last: boolean
    } & OfErasure)
  | { readonly type: 'NoteErased'; readonly erased: CallsErased }
  | { readonly type: 'FinishErasure'; readonly finished: Omit<ErasureFinished, keyof typeof totals> }

export interface ErasureState {
  readonly request: ErasureRequested | null
  readonly selected: readonly string[][]
  readonly isSelected: boolean
  readonly receipts: CallsErased[]
  /** Parts of the selection that have a receipt. A part has another one where its calls got content while it was erased. */
  readonly parts: number
  readonly finished: ErasureFinished | null
}

const evolve = (state: ErasureState, event: ErasureEvent): ErasureState => {
  switch (event.type) {
    case 'ErasureRequested':
      return { ...state, request: event.data }
    case 'CallsSelectedForErasure':
      return {
        ...state,
        selected: [...state.selected, [...event.data.call_ids]],
        isSelected: event.data.is_last,
      }
    case 'CallsErased':
      state.receipts.push(event.data)
      return { ...state, parts: Math.max(state.parts, event.data.part + 1) }
    case 'ErasureFinished':
      return { ...state, finished: event.data }
    default:
      return state
  }
}

const decide = (state: ErasureState, command: ErasureCommand): Decision<ErasureEvent> => {
  switch (command.type) {
    case 'RequestErasure':
      return state.request === null
        ? { events: [{ type: 'ErasureRequested', data: command.request }] }
        : nothing
    case 'SelectCalls': {
      const { type: _, ...data } = command
      return state.isSelected ? nothing : { events: [{ type: 'CallsSelectedForErasure', data }] }
    }
    case 'NoteErased': {
      const { erased } = command
      const ofPart = state.receipts.filter(({ part }) => part === erased.part)
      if (ofPart.length === 0) return { events: [{ type: 'CallsErased', data: erased }] }
      return erased.events === 0 || ofPart.some(({ positions }) => positions === erased.positions)
        ? nothing
        : { events: [{ type: 'CallsErased', data: { ...erased, calls: 0 } }] }
    }
    case 'FinishErasure':
      return state.finished === null
        ? { events: [{ type: 'ErasureFinished', data: { ...command.finished, ...totalsOf(state) } }] }
        : nothing
    default:
      return command satisfies never
  }
}

/** The totals of the receipts so far. */
export const totalsOf = ({
  receipts,
}: Pick<ErasureState, 'receipts'>): Pick<ErasureFinished, keyof typeof totals> => {
  const sum = (name: keyof typeof totals) => receipts.reduce((total, receipt) => total + receipt[name], 0)
  return { calls: sum('calls'), events: sum('events'), bytes: sum('bytes'), unreadable: sum('unreadable') }
}

/** A request is carried out by a job, which notes each step here, so that another process can continue it. */
export const erasureDecider: Decider<ErasureState, ErasureCommand, ErasureEvent> = {
  initialState: () => ({
    request: null,
    selected: [],
    isSelected: false,
    receipts: [],
    parts: 0,
    finished: null,
  }),
  evolve,
  decide,
}
