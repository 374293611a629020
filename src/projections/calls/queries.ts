export { opOf } from '../../domain/call/op.js'
export type { OrderBy } from '../expression/order.js'
export type { PayloadColumn, StoredCall } from './columns.js'
export { isCallField } from './fields.js'
export { NO_FILTER, type CallsFilter } from './filter.js'
export {
  callIdPages,
  callIds,
  callPage,
  callsById,
  callSizes,
  countCalls,
  traceSizesInBytes,
  type CallId,
} from './select.js'
