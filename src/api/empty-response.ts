import { closed } from '../domain/codec/struct.js'

const nothing = closed('Nothing', { says: 'Success, with an empty body.' })

/** The answer `{}`. */
export const emptyResponse = { schema: nothing.schema }
