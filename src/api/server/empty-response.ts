import { closed } from '../../kernel/codec/struct.js'

/** Responds `{}`. */
export const emptyResponse = closed('Nothing', { says: 'Success, with an empty body.' })
