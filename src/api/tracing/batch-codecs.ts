import { arrayOf, nullable } from '../../domain/codec/containers.js'
import { Codec, describedAs, refuse } from '../../domain/codec/codec.js'
import { closed, open } from '../../domain/codec/struct.js'
import { oneOf } from '../../domain/codec/leaves.js'
import { isJsonObject } from '../../domain/json/json.js'
import { MAX_ELEMENTS } from './elements.js'
import { completedCall, endedCall, startedCall, type EndedCall, type StartedCall } from './client-call.js'

const startItem = open('StartItem', {
  optional: { mode: nullable(oneOf('start')) },
  required: { req: closed('StartRequest', { required: { start: startedCall } }) },
})
const endItem = open('EndItem', {
  optional: { mode: nullable(oneOf('end')) },
  required: { req: closed('EndRequest', { required: { end: endedCall } }) },
})

export type BatchItem =
  { readonly mode: 'start'; readonly start: StartedCall } | { readonly mode: 'end'; readonly end: EndedCall }

/** `{mode: 'start', req: {start}}` or `{mode: 'end', req: {end}}`. */
export const batchItem: Codec<BatchItem> = new Codec<BatchItem>(
  'BatchItem',
  (u): u is BatchItem => isJsonObject(u) && (u['mode'] === 'start' || u['mode'] === 'end'),
  (u, c) => {
    const mode = isJsonObject(u) ? (u['mode'] ?? modeOfRequest(u['req'])) : undefined
    if (mode === 'start') {
      const item = startItem.validate(u, c)
      return item._tag === 'Right' ? { ...item, right: { mode, start: item.right.req.start } } : item
    }
    if (mode === 'end') {
      const item = endItem.validate(u, c)
      return item._tag === 'Right' ? { ...item, right: { mode, end: item.right.req.end } } : item
    }
    return refuse(u, c, 'value_error', "Value error, mode should be 'start' or 'end'")
  },
  { oneOf: [startItem.schema, endItem.schema] },
)

const modeOfRequest = (request: unknown): string | undefined =>
  isJsonObject(request) ? ['start', 'end'].find((mode) => Object.hasOwn(request, mode)) : undefined

const batchOf = <A>(codec: Codec<A>) => describedAs(arrayOf(codec), { maxItems: MAX_ELEMENTS })

export const upsertBatch = closed('CallsUpsertBatch', { required: { batch: batchOf(batchItem) } })
export const completeBatch = open('CallsComplete', { required: { batch: batchOf(completedCall) } })
